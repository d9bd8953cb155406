import { openEngine } from './registry';

test.each(['musetalk', 'latentsync', 'highsync'] as const)(
  '%s is registered, and reports when its pack is missing',
  async (engine) => {
    await expect(openEngine(engine, { dir: '/nowhere', digest: '' })).rejects.toMatchObject({
      reason: 'pack_missing',
    });
  },
);
