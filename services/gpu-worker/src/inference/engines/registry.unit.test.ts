import { engineOpener, isImplemented } from './registry';

test('engines without code here are known and unavailable', () => {
  expect(isImplemented('musetalk')).toBe(true);
  for (const name of ['latentsync', 'highsync'] as const) {
    expect(isImplemented(name)).toBe(false);
    expect(engineOpener(name)).toBeNull();
  }
});

test('an engine whose pack is missing says so when it is opened', async () => {
  await expect(engineOpener('musetalk')?.('/nowhere')).rejects.toMatchObject({ reason: 'pack_missing' });
});
