import { type ScheduleParams } from '@lipsync/engines';
import { expectedLoop, guidedLoop } from '@lipsync/engines/test/graphs';
import { SCHEDULE as HIGHSYNC } from './highsync';
import { SCHEDULE as LATENTSYNC } from './latentsync';
import { predictionFactors } from './prediction';
import { furthest } from './test/drawn-faces';

const CLEAN = Float32Array.from({ length: 64 }, (_, i) => 0.2 * Math.sin(i));
const GUIDANCE = 2.5;

/** Runs a sampler whose network knows the clean latent, and treats it as 0 without its condition. */
async function loop(schedule: ScheduleParams): Promise<Float32Array[]> {
  const { noisy, clean } = predictionFactors(schedule);
  return guidedLoop(schedule, GUIDANCE, CLEAN.length, (time, latent) => {
    const unconditional = latent.map((value) => value * (noisy[time] ?? NaN));
    const told = unconditional.map((value, i) => value + ((clean[time] ?? NaN) * (CLEAN[i] ?? 0)) / GUIDANCE);
    return Promise.resolve([unconditional, told]);
  });
}

describe.each([
  ['latentsync', LATENTSYNC],
  ['highsync', HIGHSYNC],
])('the predictions of %s', (_, schedule) => {
  test.each([4, 10, 20])(
    'lead a guided sampler of %i steps to the clean latent, along the expected mixtures',
    async (steps) => {
      const passed = await loop({ ...schedule, steps });
      const expected = expectedLoop({ ...schedule, steps }, passed[0] ?? CLEAN, CLEAN);
      expect(passed).toHaveLength(steps + 1);
      // The first expected mixture is the noise itself. The result of each step is the mixture of the next.
      passed.forEach((latent, i) => expect(furthest(latent, expected[i] ?? CLEAN)).toBeLessThan(2e-6));
    },
  );

  test('are the same at a timestep for any number of steps', () => {
    expect(predictionFactors({ ...schedule, steps: 20 })).toEqual(
      predictionFactors({ ...schedule, steps: 4 }),
    );
  });
});

test('are refused for a schedule whose end is unknown', () => {
  expect(() => predictionFactors({ ...LATENTSYNC, spacing: 'trailing' })).toThrow(RangeError);
});
