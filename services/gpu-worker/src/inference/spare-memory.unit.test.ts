import { spareMemory } from './spare-memory';

test('processes that share a machine share its cache memory', () => {
  const one = spareMemory(1);
  expect(one).toBeGreaterThan(0);
  // Far below the cap on any machine.
  expect(spareMemory(1024)).toBeLessThanOrEqual(one / 8);
  expect(spareMemory(2048)).toBe(spareMemory(1024) / 2);
});

test('a large machine caches a whole stretch of highsync, and no machine more than that', () => {
  const stretch = 250 * 46e6;
  expect(spareMemory(1, 2 ** 40)).toBeGreaterThan(stretch);
  expect(spareMemory(1, 2 ** 40)).toBeLessThan(1.2 * stretch);
});
