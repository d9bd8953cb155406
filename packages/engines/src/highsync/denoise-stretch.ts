import { type ArrayPool } from '../array-pool';
import { createDdim } from '../diffusion/ddim';
import { type Run } from '../face/connected-runs';
import { createInOrder } from '../in-order';
import { contextPasses } from './context-windows';
import { type HighsyncParams } from './highsync-params';
import { type NetworkWindow, type PredictWindow } from './predict-window';
import { type LatentsBySource } from './source-latents';
import { createStretchLatents } from './stretch-latents';

/** Windows inside the network at once: one runs, one waits. */
const WINDOWS_IN_FLIGHT = 2;

/** Consecutive output frames of one run, with their inputs. */
export interface Stretch {
  readonly outputs: Run;
  /** The source frame of every output frame of the clip. */
  readonly sources: readonly number[];
  readonly latents: LatentsBySource;
  /** Writes an output frame's audio window. */
  writeAudio(output: number, target: Float32Array, offset: number): void;
  /** Writes the landmarks of a source frame in pixels of its crop. */
  writeLandmarks(source: number, target: Float32Array, offset: number): void;
}

/** Denoises a stretch to clean latents [frames, C, h, w]; outside the mask they equal the source's. */
export type DenoiseStretch = (stretch: Stretch, signal: AbortSignal) => Promise<Float32Array>;

/**
 * HighSync's sampler (https://github.com/saeed5959/high_sync). In every step, the cells outside the mask are set to the
 * clean latents, the network slides over the stretch in windows whose position differs from step to step, and all
 * frames take the DDIM step together. A stretch shorter than a window is padded with its last frame. A frame's noise
 * depends on its position in the output, not on where stretches begin.
 */
export function createDenoiseStretch(
  params: HighsyncParams,
  predict: PredictWindow,
  /** The pool of the arrays that `predict` returns. */
  pool: ArrayPool,
): DenoiseStretch {
  const { latent: shape, mask, window, seed } = params;
  const ddim = createDdim(params.schedule);

  return async (stretch, signal) => {
    const { start: first, end } = stretch.outputs;
    const frames = Math.max(end - first, window);
    const outputAt = (frame: number): number => Math.min(first + frame, end - 1);
    const sourceAt = (frame: number): number => stretch.sources[outputAt(frame)] ?? -1;
    const cleanOf = (frame: number): Float32Array => {
      const clean = stretch.latents.get(sourceAt(frame));
      if (!clean) throw new RangeError(`there is no latent of frame ${sourceAt(frame)}`);
      return clean;
    };
    const latents = createStretchLatents(shape, mask, frames, { seed, first });

    const windowAt = (start: number): NetworkWindow => {
      const seen = Array.from({ length: window }, (_, i) => start + i);
      return {
        sources: seen.map(sourceAt),
        writeLatent: (target) => latents.readWindow(start, window, target),
        writeAudio(target) {
          const values = target.length / window;
          seen.forEach((frame, i) => stretch.writeAudio(outputAt(frame), target, i * values));
        },
        writeLandmarks(target) {
          const values = target.length / window;
          seen.forEach((frame, i) => stretch.writeLandmarks(sourceAt(frame), target, i * values));
        },
      };
    };

    for (const [step, time] of ddim.timesteps.entries()) {
      latents.restore(cleanOf);
      latents.prediction.fill(0);
      const running = createInOrder<() => void>(WINDOWS_IN_FLIGHT, (collect) => collect());
      try {
        for (const { start, weights } of contextPasses(frames, step, params)) {
          await running.add(async () => {
            signal.throwIfAborted();
            const values = await predict(time, windowAt(start));
            return () => {
              latents.addPrediction(start, weights, values);
              pool.give(values);
            };
          });
        }
        await running.finish();
      } finally {
        await running.settle();
      }
      ddim.step(step, latents.noisy, latents.prediction);
    }
    latents.restore(cleanOf);
    const frameSize = latents.noisy.length / frames;
    return latents.noisy.subarray(0, (end - first) * frameSize);
  };
}
