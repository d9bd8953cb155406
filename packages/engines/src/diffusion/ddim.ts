import { z } from 'zod';

/**
 * A DDIM sampler without randomness: https://arxiv.org/abs/2010.02502 with η = 0, like diffusers' DDIMScheduler.
 * @throws RangeError if the schedule requests timesteps outside its training
 */
export function createDdim(schedule: ScheduleParams) {
  const cumulative = cumulativeAlphas(schedule);
  const final = schedule.finalAlpha === 'one' ? 1 : (cumulative[0] ?? 1);
  const steps = scheduleSteps(schedule).map(({ time, next }) => {
    const alpha = cumulative[time];
    if (alpha === undefined) throw new RangeError(`there is no step ${time} of ${schedule.trainSteps}`);
    if (alpha <= 0 && schedule.prediction === 'epsilon') {
      throw new RangeError('pure noise says nothing about the picture when the noise is predicted');
    }
    return { time, alpha, ...stepFactors(schedule.prediction, alpha, cumulative[next] ?? final) };
  });

  return {
    /** The timesteps that are passed to the network, in decreasing order. */
    timesteps: steps.map(({ time }) => time),
    /** The share of signal (cumulative alpha) in the latent when it is denoised at each of these timesteps. */
    alphas: steps.map(({ alpha }) => alpha),
    /** The steps as data: each makes keep · latent + add · prediction. */
    steps: steps.map(({ time, keep, add }) => ({ time, keep, add })),
    /** Takes the step at `index` of the timesteps: denoises `latent` in place, given `prediction`. */
    step(index: number, latent: Float32Array, prediction: Float32Array): void {
      const step = steps[index];
      if (step === undefined) throw new RangeError(`step ${index} of ${steps.length}`);
      const { keep, add } = step;
      for (let i = 0; i < latent.length; i++)
        latent[i] = keep * (latent[i] ?? 0) + add * (prediction[i] ?? 0);
    },
  };
}

/**
 * The step from signal share `from` to `to` is linear in latent and prediction: x' = keep · x + add · prediction. It
 * follows from x' = √to · x₀ + √(1−to) · ε, where x and the prediction determine x₀ and ε.
 */
function stepFactors(
  prediction: ScheduleParams['prediction'],
  from: number,
  to: number,
): { keep: number; add: number } {
  const signal = Math.sqrt(from);
  const noise = Math.sqrt(1 - from);
  const nextSignal = Math.sqrt(to);
  const nextNoise = Math.sqrt(1 - to);
  return prediction === 'epsilon'
    ? { keep: nextSignal / signal, add: nextNoise - (nextSignal * noise) / signal }
    : { keep: nextSignal * signal + nextNoise * noise, add: nextNoise * signal - nextSignal * noise };
}

/**
 * Classifier-free guidance: extrapolates from the unconditional through the conditional prediction, by `scale`.
 * `target` may be one of the two.
 */
export function guide(
  unconditional: Float32Array,
  conditional: Float32Array,
  scale: number,
  target: Float32Array,
): void {
  for (let i = 0; i < target.length; i++) {
    const without = unconditional[i] ?? 0;
    target[i] = without + scale * ((conditional[i] ?? 0) - without);
  }
}

/** A step's timestep, and the one that it leads to; negative for the end. */
interface ScheduleStep {
  readonly time: number;
  readonly next: number;
}

/** The share of signal left at every training step. */
export function cumulativeAlphas(schedule: ScheduleParams): Float64Array {
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
function scheduleSteps({ steps, spacing, trainSteps, stepsOffset }: ScheduleParams): ScheduleStep[] {
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

/** The noise schedule that a diffusion network was trained with, and the steps to take; in the terms of diffusers. */
const scheduleFields = z.strictObject({
  trainSteps: z.int().positive(),
  betaStart: z.number().positive().lt(1),
  betaEnd: z.number().positive().lt(1),
  /** 'scaled_linear': linear in the square root of beta. */
  betaSchedule: z.enum(['linear', 'scaled_linear']),
  /** What the network predicts: the noise, or v = √α·ε − √(1−α)·x₀ (https://arxiv.org/abs/2202.00512). */
  prediction: z.enum(['epsilon', 'v_prediction']),
  spacing: z.enum(['leading', 'trailing']),
  /** Added to every timestep of leading spacing. */
  stepsOffset: z.int().nonnegative(),
  /** Cumulative alpha after the last step: exactly one, or that of the first training step. */
  finalAlpha: z.enum(['one', 'first']),
  /** Betas rescaled so that the last training step is pure noise (https://arxiv.org/abs/2305.08891). */
  zeroTerminalSnr: z.boolean(),
  /** The number of steps or, for distilled networks, the exact timesteps in decreasing order. */
  steps: z.union([z.int().positive(), z.array(z.int().nonnegative()).min(1)]),
});

export type ScheduleParams = z.infer<typeof scheduleFields>;

export const scheduleSchema = scheduleFields
  .refine(({ steps, trainSteps }) => typeof steps !== 'number' || steps <= trainSteps, {
    path: ['steps'],
    message: 'there are no more steps than the network was trained with',
  })
  .refine((schedule) => firstTime(schedule) < schedule.trainSteps, {
    path: ['steps'],
    message: 'no step lies beyond those that the network was trained with',
  })
  .refine(({ steps }) => typeof steps === 'number' || isFalling(steps), {
    path: ['steps'],
    message: 'timesteps fall',
  });

/** The largest timestep that is requested. */
function firstTime(schedule: ScheduleParams): number {
  const { steps, trainSteps, spacing, stepsOffset } = schedule;
  if (typeof steps !== 'number') return Math.max(...steps);
  // Trailing spacing begins with the last training step, whatever the number of steps.
  if (spacing === 'trailing') return trainSteps - 1;
  return (steps - 1) * Math.floor(trainSteps / steps) + stepsOffset;
}

function isFalling(times: readonly number[]): boolean {
  return times.every((time, i) => i === 0 || time < (times[i - 1] ?? 0));
}
