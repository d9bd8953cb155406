import { inferenceSettings } from './inference-settings';

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
