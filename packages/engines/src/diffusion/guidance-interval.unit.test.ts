import { SCHEDULE } from '../test/highsync-pack';
import { createDdim } from './ddim';
import { createGuidanceScale, guidanceIntervalSchema } from './guidance-interval';

/** HighSync's, which begins with pure noise. */
const schedule = { ...SCHEDULE, steps: 20 };
const guidance = 3.5;

test('without an interval, all steps are guided', () => {
  const scale = createGuidanceScale({ schedule, guidance });
  expect([999, 499, 49].map(scale)).toEqual([3.5, 3.5, 3.5]);
});

test('with the published interval of Stable Diffusion XL, 12 of 20 steps are guided', () => {
  const scale = createGuidanceScale({ schedule, guidance, guidanceInterval: { low: 0.28, high: 5.42 } });
  // σ of the steps: ∞, 70, 31, 18, 12, 8.6, 6.4, 4.87, 3.81, 3.04, 2.46, 2.00, 1.64, 1.35, 1.10, 0.89, 0.71, 0.55,
  // 0.40, 0.25
  const guided = createDdim(schedule).timesteps.map((time) => scale(time) === guidance);
  expect(guided.indexOf(true)).toBe(7);
  expect(guided.lastIndexOf(true)).toBe(18);
  expect(guided.filter(Boolean)).toHaveLength(12);
});

test('the interval holds its upper end and not its lower one', () => {
  const alpha = createDdim(schedule).alphas[10] ?? NaN;
  const level = Math.sqrt((1 - alpha) / alpha);
  const at = (low: number, high: number) =>
    createGuidanceScale({ schedule, guidance, guidanceInterval: { low, high } })(499);
  expect([at(0.1, level), at(level, 9)]).toEqual([guidance, 1]);
});

test('an interval that ends before it begins is refused', () => {
  expect(guidanceIntervalSchema.safeParse({ low: 2, high: 1 }).success).toBe(false);
});
