import { createDdim } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { type Run } from '../face/smoothing';
import { createInOrder } from '../in-order';
import { type ArrayPool } from '../model';
import { type HighsyncParams } from './manifest';
import { generatedSpan, restoreOutside } from './mask';
import { type NetworkWindow, type PredictWindow } from './predict-window';
import { type LatentsBySource } from './source-latents';

/** Windows inside the network at once: one runs, one waits. */
const WINDOWS_IN_FLIGHT = 2;

/** Consecutive output frames of one run, with their inputs. */
interface Stretch {
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
type DenoiseStretch = (stretch: Stretch, signal: AbortSignal) => Promise<Float32Array>;

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
  const { window } = params;
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
    const latents = createStretchLatents(params, frames, first);

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
      latents.step((noisy, prediction) => ddim.step(step, noisy, prediction));
    }
    latents.restore(cleanOf);
    const frameSize = latents.noisy.length / frames;
    return latents.noisy.subarray(0, (end - first) * frameSize);
  };
}

/** The latents of a stretch while it is denoised. */
interface StretchLatents {
  /** Frame by frame, [frames, C, h, w]. */
  readonly noisy: Float32Array;
  /** Sets the cells outside the mask to the clean latents. */
  restore(cleanOf: (frame: number) => Float32Array): void;
  /** Writes the noisy latents of `count` frames from `start`, in the network's layout: [C, count, h, w]. */
  readWindow(start: number, count: number, target: Float32Array): void;
  /** Adds the network's prediction for these frames, each multiplied by its weight. */
  addPrediction(start: number, weights: Float32Array, values: Float32Array): void;
  /** Has every generated part of the latents denoised in place, given the sum of its predictions, which starts anew. */
  step(denoise: (noisy: Float32Array, prediction: Float32Array) => void): void;
}

/**
 * Starts from noise: frame `i` gets the noise of output position `first + i`. Noise, prediction and step leave out the
 * cells of a plane before and after the mask, because `restore` sets them.
 */
function createStretchLatents(
  { latent: shape, mask, seed }: HighsyncParams,
  frames: number,
  first: number,
): StretchLatents {
  const area = shape.height * shape.width;
  const size = shape.channels * area;
  const span = generatedSpan(shape.width, mask);
  const generated = span.to - span.from;
  const noisy = new Float32Array(frames * size);
  /** [frames, C, generated]. */
  const prediction = new Float32Array(frames * shape.channels * generated);

  /**
   * Visits the channel planes of some frames: the offset of each here, that of its prediction, and that in a tensor in
   * the network's layout.
   */
  const eachPlane = (
    start: number,
    count: number,
    visit: (here: number, predicted: number, there: number, i: number) => void,
  ): void => {
    for (let i = 0; i < count; i++) {
      for (let channel = 0; channel < shape.channels; channel++) {
        const plane = (start + i) * shape.channels + channel;
        visit(plane * area, plane * generated, (channel * count + i) * area, i);
      }
    }
  };

  for (let frame = 0; frame < frames; frame++) {
    const latent = noisy.subarray(frame * size, (frame + 1) * size);
    for (let plane = 0; plane < size; plane += area)
      fillNoise(latent, seed, first + frame, { from: plane + span.from, to: plane + span.to });
  }

  return {
    noisy,
    restore(cleanOf) {
      for (let frame = 0; frame < frames; frame++) {
        restoreOutside(noisy.subarray(frame * size, (frame + 1) * size), cleanOf(frame), shape, mask);
      }
    },
    readWindow(start, count, target) {
      eachPlane(start, count, (here, _, there) => target.set(noisy.subarray(here, here + area), there));
    },
    addPrediction(start, weights, values) {
      eachPlane(start, weights.length, (_, predicted, there, i) => {
        const weight = weights[i] ?? 0;
        if (weight === 0) return;
        const added = values.subarray(there + span.from, there + span.to);
        // Most frames are in one window only.
        if (weight === 1) return prediction.set(added, predicted);
        for (let k = 0; k < generated; k++) {
          prediction[predicted + k] = (prediction[predicted + k] ?? 0) + weight * (added[k] ?? 0);
        }
      });
    },
    step(denoise) {
      eachPlane(0, frames, (here, predicted) =>
        denoise(
          noisy.subarray(here + span.from, here + span.to),
          prediction.subarray(predicted, predicted + generated),
        ),
      );
      prediction.fill(0);
    },
  };
}

/** How a network that sees a fixed number of frames moves over a longer run. */
interface WindowShape {
  /** Frames that the network sees at once. */
  readonly window: number;
  /** Frames that neighboring windows share; less than `window`. */
  readonly overlap: number;
}

/** One position of the network: it sees frames [start, start + window), and its output counts for [from, to). */
interface ContextWindow {
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The windows of one denoising step over a run of `frames` (≥ window) frames, as HighSync places them
 * (https://github.com/saeed5959/high_sync). They move by one frame with every step, so that no frame stays at a border.
 * A window that would extend beyond an end is moved back inside, and only its original frames count. Windows with the
 * same start see the same frames, and each counts.
 * @throws RangeError for a run that is too short
 */
export function contextWindows(
  frames: number,
  step: number,
  { window, overlap }: WindowShape,
): ContextWindow[] {
  if (frames < window) throw new RangeError(`${frames} frames do not fill a window of ${window}`);
  const shift = step % window;
  if (frames + shift <= window) return [{ start: 0, from: 0, to: frames }];
  const windows: ContextWindow[] = [];
  for (let first = -shift; first < frames; first += window - overlap) {
    const to = Math.min(frames, first + window);
    windows.push({ start: Math.max(0, to - window), from: Math.max(0, first), to });
  }
  return windows;
}

/** One pass of the network and the weights of its output. */
interface ContextPass {
  /** The first frame that the network sees. */
  readonly start: number;
  /**
   * Weight of its output for each of those frames. For every frame of the run the weights of all passes add up to 1.
   */
  readonly weights: Float32Array;
}

/**
 * The passes of the network for the windows of a step. Equal windows share a pass, and a frame takes the mean of its
 * windows.
 */
export function contextPasses(frames: number, step: number, shape: WindowShape): ContextPass[] {
  const windows = contextWindows(frames, step, shape);
  const covered = new Uint32Array(frames);
  const counts = new Map<number, Uint32Array>();
  for (const { start, from, to } of windows) {
    const count = counts.get(start) ?? new Uint32Array(shape.window);
    counts.set(start, count);
    for (let frame = from; frame < to; frame++) {
      count[frame - start] = (count[frame - start] ?? 0) + 1;
      covered[frame] = (covered[frame] ?? 0) + 1;
    }
  }
  return [...counts].map(([start, count]) => ({
    start,
    weights: Float32Array.from(count, (times, place) =>
      times === 0 ? 0 : times / (covered[start + place] ?? 1),
    ),
  }));
}
