import { createDdim, guide } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { type ScheduleParams } from '../diffusion/schedule-params';

/** The prediction of a network for a noisy latent at a timestep, without and with its condition. */
export type Predict = (
  time: number,
  latent: Float32Array,
) => Promise<readonly [unconditional: Float32Array, conditional: Float32Array]>;

/** The latents of a denoising loop: the noise, then one after each step. The last one is clean. */
export async function guidedLoop(
  schedule: ScheduleParams,
  guidance: number,
  length: number,
  predict: Predict,
): Promise<Float32Array[]> {
  const ddim = createDdim(schedule);
  const latent = new Float32Array(length);
  fillNoise(latent, 7);
  const passed = [latent.slice()];
  for (const [step, time] of ddim.timesteps.entries()) {
    const [unconditional, conditional] = await predict(time, latent);
    guide(unconditional, conditional, guidance, conditional);
    ddim.step(step, latent, conditional);
    passed.push(latent.slice());
  }
  return passed;
}

/**
 * The latents that the same loop must pass if the network knows the clean latent: at every step the mixture of the
 * clean latent with the noise in the first latent, and at the end the clean latent.
 */
export function expectedLoop(
  schedule: ScheduleParams,
  noise: Float32Array,
  clean: Float32Array,
): Float32Array[] {
  const alphas = [...createDdim(schedule).alphas, 1];
  const [first = 1] = alphas;
  const firstSignal = Math.sqrt(first);
  const mixture = (alpha: number): Float32Array => {
    const [signal, rest] = [Math.sqrt(alpha), Math.sqrt(1 - alpha) / Math.sqrt(1 - first)];
    const values = new Float32Array(clean.length);
    for (let i = 0; i < values.length; i++) {
      const contained = (noise[i] ?? 0) - firstSignal * (clean[i] ?? 0);
      values[i] = signal * (clean[i] ?? 0) + rest * contained;
    }
    return values;
  };
  return alphas.map(mixture);
}
