import { engineOpener, isImplemented } from './registry';

test('engines without code here are known and unavailable', () => {
  expect(isImplemented('musetalk')).toBe(true);
  expect(isImplemented('highsync')).toBe(true);
  expect(isImplemented('latentsync')).toBe(false);
  expect(engineOpener('latentsync')).toBeNull();
});

test('an engine whose pack is missing says so when it is opened', async () => {
  await expect(engineOpener('musetalk')?.('/nowhere')).rejects.toMatchObject({ reason: 'pack_missing' });
});
