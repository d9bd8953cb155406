import { inferenceSettings, spareMemory } from './inference-settings';

describe('the settings of an inference process', () => {
  test.each([{}, { GPU_SLOTS: 'auto' }])(
    'it has the machine to itself unless given a number: %j',
    (environment) => {
      const { processes, graphs, spareBytes } = inferenceSettings(environment);
      expect(processes).toBe(1);
      expect(graphs.cores).toBeGreaterThanOrEqual(1);
      expect(spareBytes).toBeGreaterThan(0);
    },
  );

  test('it shares the machine with as many processes as given', () => {
    expect(inferenceSettings({ GPU_SLOTS: '4' }).processes).toBe(4);
  });
});

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
