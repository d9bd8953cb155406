/** The noise schedule that a diffusion network was trained with, and the steps to take; in the terms of diffusers. */
export interface NoiseSchedule {
  readonly trainSteps: number;
  readonly betaStart: number;
  readonly betaEnd: number;
  /** 'scaled_linear': linear in the square root of beta. */
  readonly betaSchedule: 'linear' | 'scaled_linear';
  /** What the network predicts: the noise, or v = √α·ε − √(1−α)·x₀ (https://arxiv.org/abs/2202.00512). */
  readonly prediction: 'epsilon' | 'v_prediction';
  readonly spacing: 'leading' | 'trailing';
  /** Added to every timestep of leading spacing. */
  readonly stepsOffset: number;
  /** Cumulative alpha after the last step: exactly one, or that of the first training step. */
  readonly finalAlpha: 'one' | 'first';
  /** Betas rescaled so that the last training step is pure noise (https://arxiv.org/abs/2305.08891). */
  readonly zeroTerminalSnr: boolean;
  /** The number of steps, or the exact timesteps in decreasing order. */
  readonly steps: number | readonly number[];
}

/** A step's timestep, and the one that it leads to; negative for the end. */
export interface ScheduleStep {
  readonly time: number;
  readonly next: number;
}

/** The share of signal left at every training step. */
export function cumulativeAlphas(schedule: NoiseSchedule): Float64Array {
  const { trainSteps, betaStart, betaEnd, betaSchedule, zeroTerminalSnr } = schedule;
  const scaled = betaSchedule === 'scaled_linear';
  const [from, to] = scaled ? [Math.sqrt(betaStart), Math.sqrt(betaEnd)] : [betaStart, betaEnd];
  const alphas = new Float64Array(trainSteps);
  let product = 1;
  for (let step = 0; step < trainSteps; step++) {
    const level = trainSteps > 1 ? from + ((to - from) * step) / (trainSteps - 1) : from;
    product *= 1 - (scaled ? level * level : level);
    alphas[step] = product;
  }
  return zeroTerminalSnr ? rescaledToZero(alphas) : alphas;
}

/** Shifts and scales √α so that its first value stays and its last becomes 0. */
function rescaledToZero(alphas: Float64Array): Float64Array {
  const first = Math.sqrt(alphas[0] ?? 1);
  const last = Math.sqrt(alphas[alphas.length - 1] ?? 0);
  return alphas.map((alpha) => (((Math.sqrt(alpha) - last) * first) / (first - last)) ** 2);
}

/** The steps to take, first to last. A list of timesteps is used as it is, each leading to the next one. */
export function scheduleSteps({ steps, spacing, trainSteps, stepsOffset }: NoiseSchedule): ScheduleStep[] {
  if (typeof steps !== 'number') return steps.map((time, i) => ({ time, next: steps[i + 1] ?? -1 }));
  const stride = Math.floor(trainSteps / steps);
  return Array.from({ length: steps }, (_, i) => {
    const time =
      spacing === 'leading'
        ? (steps - 1 - i) * stride + stepsOffset
        : roundHalfToEven(trainSteps - (i * trainSteps) / steps) - 1;
    return { time, next: time - stride };
  });
}

/** Rounds like NumPy, which matters for the timesteps if the steps do not divide those of the training. */
function roundHalfToEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
