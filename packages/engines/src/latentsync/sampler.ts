import { createDdim, guide } from '../diffusion/ddim';
import { piecesOf } from '../latents';
import { type ArrayPool, float32Of, float32Tensor, type RunModel, type Tensor, type Tensors } from '../model';
import { conditionsAtOnce, type LatentsyncManifest, stepsAtOnce } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Denoises the noisy channels of `latent`, which come first. Given is what the network sees of a window in every step,
 * whose arrays are taken over. Returns what it was fed last, in arrays of the pool, with the denoised `latent`. Rejects
 * with the signal's reason between calls.
 */
type Sampler = (window: Tensors, signal: AbortSignal) => Promise<Tensors>;

/** DDIM with classifier-free guidance, which moves the prediction away from the one without sound. */
export function createSampler(manifest: LatentsyncManifest, run: RunModel, pool: ArrayPool): Sampler {
  const interval = stepsAtOnce(manifest.roles.unet3d);
  return interval === null
    ? createStepSampler(manifest, run, pool)
    : createIntervalSampler(manifest, interval, run, pool);
}

/**
 * For a network that takes several steps in a call, with guidance and the sampler's update in each. It takes the linear
 * combinations that they are as data. The last call is filled up with steps that change nothing.
 */
function createIntervalSampler(
  { params: { guidance, schedule } }: LatentsyncManifest,
  interval: number,
  run: RunModel,
  pool: ArrayPool,
): Sampler {
  const steps = createDdim(schedule).steps.map(({ time, keep, add }) => ({
    time,
    coefficients: guidance > 1 ? [keep, add * (1 - guidance), add * guidance] : [keep, add],
  }));
  const calls = piecesOf(steps, interval).map((own) => {
    const missing = own.slice(-1).map(({ time, coefficients: [, ...others] }) => ({
      time,
      coefficients: [1, ...others.map(() => 0)],
    }));
    return [...own, ...Array.from({ length: interval - own.length }, () => missing).flat()];
  });

  return async (window, signal) => {
    let fed = window;
    for (const call of calls) {
      signal.throwIfAborted();
      const coefficients = Float32Array.from(call.flatMap((step) => step.coefficients));
      const { outputs, feeds } = await run(
        'unet3d',
        {
          ...fed,
          timestep: timesteps(call.map(({ time }) => time)),
          coefficients: float32Tensor(coefficients, [interval, coefficients.length / interval]),
        },
        (length) => pool.take(length),
      );
      pool.give(float32Of(feeds, 'latent'));
      fed = { ...feeds, ...outputs };
    }
    return fed;
  };
}

/**
 * For a network that predicts. The two conditions of guidance are separate calls, except for a network that computes both
 * at once, in twice the memory.
 */
function createStepSampler(
  { roles, params: { guidance, schedule } }: LatentsyncManifest,
  run: RunModel,
  pool: ArrayPool,
): Sampler {
  const ddim = createDdim(schedule);
  const together = conditionsAtOnce(roles.unet3d) === 2;
  const apart = guidance > 1 && !together;

  return async (window, signal) => {
    let fed = window;
    const sound = { audio: float32Of(window, 'audio') };
    const silence = { audio: pool.take(apart ? sound.audio.length : 0).fill(0) };

    /** The prediction at a step. The fed arrays are transferred and returned. */
    const predict = async (time: number, condition: { audio: Floats }): Promise<Floats> => {
      signal.throwIfAborted();
      const audio = float32Tensor(condition.audio, window['audio']?.dims ?? []);
      const { outputs, feeds } = await run(
        'unet3d',
        { ...fed, timestep: timesteps([time]), audio },
        (length) => pool.take(length),
      );
      fed = feeds;
      condition.audio = float32Of(feeds, 'audio');
      return float32Of(outputs, 'prediction');
    };

    for (const [step, time] of ddim.timesteps.entries()) {
      // When both are computed together, the one without sound comes first.
      const unheard = apart ? [await predict(time, silence)] : [];
      const heard = await predict(time, sound);
      const noisySize = heard.length / (together ? 2 : 1);
      const predicted = heard.subarray(-noisySize);
      for (const without of together ? [heard] : unheard)
        guide(without.subarray(0, noisySize), predicted, guidance, predicted);
      ddim.step(step, float32Of(fed, 'latent').subarray(0, noisySize), predicted);
      for (const array of [...unheard, heard]) pool.give(array);
    }
    pool.give(silence.audio);
    return fed;
  };
}

function timesteps(times: readonly number[]): Tensor {
  return { type: 'int64', dims: [times.length], data: BigInt64Array.from(times, BigInt) };
}
