import { spareMemory } from './spare-memory';

test('processes that share a machine share what they may remember', () => {
  const one = spareMemory(1);
  expect(one).toBeGreaterThan(0);
  // Far below the cap, whatever this machine has.
  expect(spareMemory(1024)).toBeLessThanOrEqual(one / 8);
  expect(spareMemory(2048)).toBe(spareMemory(1024) / 2);
});
