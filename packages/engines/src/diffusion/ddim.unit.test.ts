import { createDdim, guide, type ScheduleParams } from './ddim';

const LATENTSYNC: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'scaled_linear',
  prediction: 'epsilon',
  spacing: 'leading',
  stepsOffset: 1,
  finalAlpha: 'first',
  zeroTerminalSnr: false,
  steps: 20,
};

const HIGHSYNC: ScheduleParams = {
  ...LATENTSYNC,
  betaSchedule: 'linear',
  prediction: 'v_prediction',
  spacing: 'trailing',
  finalAlpha: 'one',
  zeroTerminalSnr: true,
};

const linspace = (from: number, to: number) =>
  Float32Array.from({ length: 8 }, (_, i) => from + ((to - from) * i) / 7);

/** Result of one step at `time` from x = −1 … 1 with a prediction of 0.5 … −0.5. */
function stepAt(schedule: ScheduleParams, time: number): Float32Array {
  const ddim = createDdim(schedule);
  const latent = linspace(-1, 1);
  ddim.step(ddim.timesteps.indexOf(time), latent, linspace(0.5, -0.5));
  return latent;
}

function expectAlphas(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((alpha, i) => expect(alpha).toBeCloseTo(expected[i] ?? NaN, 6));
}

describe("latentsync's schedule", () => {
  test.each([
    [20, [951, 901], [51, 1]],
    [25, [961, 921], [41, 1]],
    [10, [901, 801], [101, 1]],
    [8, [876, 751], [126, 1]],
  ])('%i steps begin and end at the published timesteps', (steps, first, last) => {
    const { timesteps } = createDdim({ ...LATENTSYNC, steps });
    expect(timesteps).toHaveLength(steps);
    expect([timesteps.slice(0, 2), timesteps.slice(-2)]).toEqual([first, last]);
  });

  test('the share of signal is that of the published weights', () => {
    expectAlphas(
      createDdim(LATENTSYNC).alphas,
      [
        0.008155, 0.01400489, 0.02307697, 0.03654649, 0.05571898, 0.08191665, 0.11632477, 0.15981632,
        0.21278235, 0.27499884, 0.34555799, 0.42288131, 0.50481832, 0.58881843, 0.67215115, 0.75214309,
        0.82639897, 0.89298022, 0.95052409, 0.99829602,
      ],
    );
  });

  test.each([
    [951, -1.4665451],
    [501, -1.1937219],
    [1, -1.0064986],
  ])('a step at time %i gives the published values', (time, first) => {
    const latent = stepAt(LATENTSYNC, time);
    expect(latent[0]).toBeCloseTo(first, 5);
    expect(latent[7]).toBeCloseTo(-first, 5);
  });
});

describe("highsync's schedule", () => {
  test('timesteps trail: the first is pure noise', () => {
    const { timesteps } = createDdim(HIGHSYNC);
    expect(timesteps).toEqual(Array.from({ length: 20 }, (_, i) => 999 - 50 * i));
  });

  test('the share of signal is rescaled to begin at zero', () => {
    expectAlphas(
      createDdim(HIGHSYNC).alphas,
      [
        0, 0.00020145, 0.0010374, 0.002992, 0.0067745, 0.01336819, 0.02406232, 0.04044938, 0.06436814,
        0.09777444, 0.14252949, 0.20010968, 0.27126199, 0.35564962, 0.45155364, 0.5557031, 0.66330117,
        0.76829129, 0.86386257, 0.94315058,
      ],
    );
  });

  test.each([
    [999, -1.0069959],
    [499, -1.035354],
    [49, -1.0903749],
  ])('a step at time %i gives the published values', (time, first) => {
    const latent = stepAt(HIGHSYNC, time);
    expect(latent[0]).toBeCloseTo(first, 5);
    expect(latent[7]).toBeCloseTo(-first, 5);
  });

  test('a number of steps that does not divide the training rounds its timesteps like NumPy', () => {
    // 1000 − k·62.5 = 937.5, 812.5, 687.5: halves round to the even neighbor, then 1 is subtracted.
    const { timesteps } = createDdim({ ...HIGHSYNC, steps: 16 });
    expect(timesteps.slice(0, 6)).toEqual([999, 937, 874, 811, 749, 687]);
  });
});

describe('the sampler', () => {
  test('a final alpha of the first training step leaves exactly that much noise', () => {
    const ddim = createDdim(LATENTSYNC);
    const latent = Float32Array.of(0);
    // x₀ = 0 means that x is all noise: ε = x / √(1−α).
    latent[0] = Math.sqrt(1 - (ddim.alphas[19] ?? NaN));
    ddim.step(19, latent, Float32Array.of(1));
    expect(latent[0]).toBeCloseTo(Math.sqrt(0.00085), 6);
  });

  test('a listed timestep leads to the next one, whatever lies between', () => {
    const listed = createDdim({ ...LATENTSYNC, steps: [951, 901] });
    const spaced = createDdim(LATENTSYNC);
    const [a, b] = [linspace(-1, 1), linspace(-1, 1)];
    listed.step(0, a, linspace(0.5, -0.5));
    spaced.step(0, b, linspace(0.5, -0.5));
    expect(a).toEqual(b);
  });

  test('a distilled schedule takes the steps of diffusers’ DPM-Solver of first order and of its TCD without noise', () => {
    const ddim = createDdim({ ...LATENTSYNC, steps: [951, 701, 401, 151] });
    const latent = linspace(-1, 1);
    const first = ddim.timesteps.map((_, index) => {
      ddim.step(index, latent, linspace(0.5 * (index + 1), -0.5 * (index + 1)));
      return latent[0];
    });
    const published = [-4.2685105, -11.1157313, -16.5070173, -19.0084852];
    first.forEach((value, index) => expect(value).toBeCloseTo(published[index] ?? NaN, 4));
  });

  test('a timestep outside the training is refused', () => {
    expect(() => createDdim({ ...LATENTSYNC, steps: [1000] })).toThrow(RangeError);
    expect(() => createDdim({ ...LATENTSYNC, steps: 1000 })).toThrow(RangeError);
  });

  test('predicting noise from pure noise is refused', () => {
    expect(() => createDdim({ ...HIGHSYNC, prediction: 'epsilon' })).toThrow(RangeError);
  });
});

test('guidance extrapolates beyond the conditional prediction, even in place', () => {
  const conditional = Float32Array.of(1, 2);
  guide(Float32Array.of(0, 4), conditional, 1.5, conditional);
  expect(Array.from(conditional)).toEqual([1.5, 1]);
});
