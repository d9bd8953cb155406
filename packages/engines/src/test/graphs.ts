import { InferenceSession, Tensor } from 'onnxruntime-node';
import { createDdim, guide, type ScheduleParams } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';

type Floats = Float32Array<ArrayBuffer>;

/** A graph under test. */
export interface TestGraph {
  /** Runs the graph and returns its only output. */
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Floats>;
  release(): Promise<void>;
}

/** Loads the bytes of a model. */
export async function loadTestGraph(model: Uint8Array): Promise<TestGraph> {
  // One thread, because tests run in parallel, and a spinning pool would take the cores from all of them.
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1 });
  return {
    run: async (feeds) => {
      const [output] = Object.values(await session.run(feeds));
      if (!(output?.data instanceof Float32Array)) throw new TypeError('one float32 output expected');
      // A copy, because the runtime may reuse its memory.
      return Float32Array.from(output.data);
    },
    release: () => session.release(),
  };
}

export const floats = (data: Float32Array, dims: readonly number[]): Tensor =>
  new Tensor('float32', data, dims);

export const time = (step: number): Tensor => new Tensor('int64', BigInt64Array.of(BigInt(step)), [1]);

/** The prediction of a network for a noisy latent at a timestep, without and with its condition. */
type Predict = (
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
