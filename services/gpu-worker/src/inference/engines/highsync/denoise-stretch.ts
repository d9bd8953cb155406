import { contextPasses, createDdim, fillNoise, restoreOutside, type Run } from '@lipsync/lipsync';
import { type HighsyncParams } from '@lipsync/model-pack';
import { createInOrder } from './in-order';
import { type NetworkWindow, type PredictWindow } from './predict-window';
import { type LatentsBySource } from './source-latents';

/** Windows inside the network at once: one runs, one waits. */
const WINDOWS_IN_FLIGHT = 2;

/** Consecutive output frames of one run, and what is known about them. */
export interface Stretch {
  readonly outputs: Run;
  /** The source frame of every output frame of the clip. */
  readonly sources: readonly number[];
  readonly latents: LatentsBySource;
  /** Writes what an output frame hears. */
  writeAudio(output: number, target: Float32Array, offset: number): void;
  /** Writes the landmarks of a source frame in pixels of its crop. */
  writeLandmarks(source: number, target: Float32Array, offset: number): void;
}

/** Denoises a stretch: clean latents [frames, C, h, w], which outside the mask are the source's own. */
export type DenoiseStretch = (stretch: Stretch, signal: AbortSignal) => Promise<Float32Array>;

/**
 * HighSync's sampler (https://github.com/saeed5959/high_sync): in every step the cells outside the mask are set to the
 * clean latents, the network is moved over the stretch in windows that lie elsewhere in each step, and all frames take
 * the DDIM step together. A stretch shorter than a window is filled up with its last frame. A frame's noise depends on
 * its place in the output, not on where stretches begin.
 */
export function createDenoiseStretch(params: HighsyncParams, predict: PredictWindow): DenoiseStretch {
  const { latent: shape, mask, window, seed, schedule } = params;
  const area = shape.height * shape.width;
  const size = shape.channels * area;
  const ddim = createDdim(schedule);

  return async ({ outputs, sources, latents, writeAudio, writeLandmarks }, signal) => {
    const frames = outputs.end - outputs.start;
    const places = Math.max(frames, window);
    const outputAt = (place: number): number => outputs.start + Math.min(place, frames - 1);
    const sourceAt = (place: number): number => sources[outputAt(place)] ?? -1;
    const each = <T>(start: number, visit: (place: number, i: number) => T): T[] =>
      Array.from({ length: window }, (_, i) => visit(start + i, i));

    const latent = new Float32Array(places * size);
    const prediction = new Float32Array(places * size);
    for (let place = 0; place < places; place++) {
      fillNoise(latent.subarray(place * size, (place + 1) * size), seed, outputs.start + place);
    }
    const restore = (): void => {
      for (let place = 0; place < places; place++) {
        const clean = latents.get(sourceAt(place));
        if (!clean) throw new RangeError(`there is no latent of frame ${sourceAt(place)}`);
        restoreOutside(latent, place * size, clean, 0, shape, mask);
      }
    };

    const windowAt = (start: number): NetworkWindow => ({
      sources: each(start, sourceAt),
      writeLatent: (target) => {
        each(start, (place, i) => {
          for (let channel = 0; channel < shape.channels; channel++) {
            const from = place * size + channel * area;
            target.set(latent.subarray(from, from + area), (channel * window + i) * area);
          }
        });
      },
      writeAudio: (target) => {
        const values = target.length / window;
        each(start, (place, i) => writeAudio(outputAt(place), target, i * values));
      },
      writeLandmarks: (target) => {
        const values = target.length / window;
        each(start, (place, i) => writeLandmarks(sourceAt(place), target, i * values));
      },
    });

    /** Adds a window's prediction, [C, window, h, w], to those of its frames, as much as each counts. */
    const collect = (start: number, weights: Float32Array, values: Float32Array): void => {
      weights.forEach((weight, i) => {
        if (weight === 0) return;
        for (let channel = 0; channel < shape.channels; channel++) {
          const from = (channel * window + i) * area;
          const to = (start + i) * size + channel * area;
          for (let k = 0; k < area; k++) {
            prediction[to + k] = (prediction[to + k] ?? 0) + weight * (values[from + k] ?? 0);
          }
        }
      });
    };

    for (const [step, time] of ddim.timesteps.entries()) {
      restore();
      prediction.fill(0);
      const running = createInOrder<() => void>(WINDOWS_IN_FLIGHT, (take) => take());
      try {
        for (const { start, weights } of contextPasses(places, step, params)) {
          await running.add(async () => {
            signal.throwIfAborted();
            const values = await predict(time, windowAt(start));
            return () => collect(start, weights, values);
          });
        }
        await running.finish();
      } finally {
        await running.settle();
      }
      ddim.step(step, latent, prediction);
    }
    restore();
    return latent.subarray(0, frames * size);
  };
}
