import { cumulativeAlphas, type NoiseSchedule, scheduleSteps } from './ddim-schedule';

/** A DDIM sampler without randomness: https://arxiv.org/abs/2010.02502 with η = 0, like diffusers' DDIMScheduler. */
export interface Ddim {
  /** The timesteps that are passed to the network, in decreasing order. */
  readonly timesteps: readonly number[];
  /** The share of signal (cumulative alpha) in the latent when it is denoised at each of these timesteps. */
  readonly alphas: readonly number[];
  /** Takes the step at `index` of the timesteps: denoises `latent` in place, given `prediction`. */
  step(index: number, latent: Float32Array, prediction: Float32Array): void;
}

/** @throws RangeError if the schedule requests timesteps outside its training */
export function createDdim(schedule: NoiseSchedule): Ddim {
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
    timesteps: steps.map(({ time }) => time),
    alphas: steps.map(({ alpha }) => alpha),
    step(index, latent, prediction) {
      const step = steps[index];
      if (step === undefined) throw new RangeError(`step ${index} of ${steps.length}`);
      if (latent.length !== prediction.length) throw new RangeError('latent and prediction differ in length');
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
  prediction: NoiseSchedule['prediction'],
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
