import { createDdim } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { type Run } from '../face/smoothing';
import { createInOrder } from '../in-order';
import { type ArrayPool } from '../model';
import { type Instant } from '../pace';
import { type ContextPass, contextPasses } from './context-passes';
import { type HighsyncParams } from './manifest';
import { generatedSpan, restoreOutside } from './mask';
import { type NetworkWindow, type PredictWindow } from './predict-window';
import { type LatentsBySource } from './source-latents';

type Floats = Float32Array<ArrayBuffer>;

/** Windows inside the network at once: one runs, one waits. */
const WINDOWS_IN_FLIGHT = 2;

/** Consecutive instants that are denoised together, however many. */
interface DenoisedRun {
  readonly range: Run;
  /** All instants of the clip. */
  readonly instants: readonly Pick<Instant, 'output' | 'source'>[];
  /** Loads the inputs of instants. Neither end of the range moves back; what lies before it is not used again. */
  load(wanted: Run, signal: AbortSignal): Promise<RunInputs>;
}

interface RunInputs {
  readonly latents: LatentsBySource;
  /** Writes an instant's audio window. */
  writeAudio(instant: number, target: Float32Array, offset: number): void;
  /** Writes the landmarks of a source frame in pixels of its crop. */
  writeLandmarks(source: number, target: Float32Array, offset: number): void;
}

/** The clean latent [C, h, w] of an instant, in an array of the pool; outside the mask it equals the source's. */
export interface DenoisedFrame {
  readonly instant: number;
  readonly latent: Floats;
}

/** Denoises a run; yields its frames in order, some at a time. */
type DenoiseRun = (run: DenoisedRun, signal: AbortSignal) => AsyncGenerator<readonly DenoisedFrame[], void>;

/**
 * HighSync's sampler (https://github.com/saeed5959/high_sync). In every step, the cells outside the mask are set to the
 * clean latents, the network slides over the run in windows whose position differs from step to step, and every frame
 * takes the DDIM step with the mean of its windows. A run shorter than a window is padded with its last frame. A frame's
 * noise depends on the position of the run in the output, and on its own in the run.
 *
 * A window needs nothing but the step before, of the frames that it sees. So the steps follow one another over the run
 * like the frames of a wave: whenever `stretch` more frames are loaded, each step goes as far as the step before allows,
 * and the last one yields finished frames. Memory is bounded whatever the length of the run, and the pictures are those
 * of all frames denoised together: `stretch` does not change them.
 */
export function createDenoiseRun(
  params: HighsyncParams,
  predict: PredictWindow,
  pool: ArrayPool,
): DenoiseRun {
  const { window } = params;
  const ddim = createDdim(params.schedule);

  return async function* (run, signal) {
    const { start: first, end } = run.range;
    const frames = Math.max(end - first, window);
    const instantAt = (frame: number): number => Math.min(first + frame, end - 1);
    const sourceAt = (frame: number): number => run.instants[instantAt(frame)]?.source ?? -1;
    const latents = createRunLatents(params, run.instants[first]?.output ?? 0, pool);
    const steps = ddim.timesteps.map((time, step) => ({
      time,
      passes: createPassQueue(contextPasses(frames, step, params), { frames, window }),
    }));

    const windowAt = (start: number, inputs: RunInputs): NetworkWindow => {
      const seen = Array.from({ length: window }, (_, i) => start + i);
      return {
        sources: seen.map(sourceAt),
        writeLatent: (target) => latents.readWindow(start, window, target),
        writeAudio(target) {
          const values = target.length / window;
          seen.forEach((frame, i) => inputs.writeAudio(instantAt(frame), target, i * values));
        },
        writeLandmarks(target) {
          const values = target.length / window;
          seen.forEach((frame, i) => inputs.writeLandmarks(sourceAt(frame), target, i * values));
        },
      };
    };

    let loaded = 0;
    let finished = 0;
    while (finished < frames) {
      signal.throwIfAborted();
      const next = Math.min(frames, loaded + params.stretch);
      const inputs = await run.load({ start: instantAt(finished), end: instantAt(next - 1) + 1 }, signal);
      for (; loaded < next; loaded++) {
        const clean = inputs.latents.get(sourceAt(loaded));
        if (!clean) throw new RangeError(`there is no latent of frame ${sourceAt(loaded)}`);
        latents.enter(clean);
      }

      let ready = loaded;
      for (const [step, { time, passes }] of steps.entries()) {
        const running = createInOrder<() => void>(WINDOWS_IN_FLIGHT, (collect) => collect());
        const before = passes.passed();
        try {
          for (const { start, weights } of passes.within(ready)) {
            await running.add(async () => {
              signal.throwIfAborted();
              const values = await predict(time, windowAt(start, inputs));
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
        ready = passes.passed();
        latents.step(before, ready, (noisy, prediction) => ddim.step(step, noisy, prediction));
      }

      const done = latents.leave(ready).map((latent, i) => ({ instant: first + finished + i, latent }));
      finished = ready;
      // What a run was padded with is not asked for.
      const wanted = done.filter(({ instant }) => instant < end);
      for (const { latent } of done.slice(wanted.length)) pool.give(latent);
      if (wanted.length > 0) yield wanted;
    }
  };
}

/** The passes of one step over a run that are still to be computed. */
function createPassQueue(
  passes: Iterator<ContextPass, unknown>,
  { frames, window }: { readonly frames: number; readonly window: number },
) {
  let next = passes.next();
  return {
    /** Takes the passes that see only frames below `ready`. */
    *within(ready: number): Generator<ContextPass> {
      while (!next.done && next.value.start + window <= ready) {
        yield next.value;
        next = passes.next();
      }
    },
    /** Number of frames that no further pass sees. */
    passed: (): number => (next.done ? frames : next.value.start),
  };
}

/** The latents of a run's frames while they are denoised; only those between the first step and the last are in memory. */
interface RunLatents {
  /** Adds the next frame: noise, and its clean latent, which is used until the frame leaves. */
  enter(clean: Float32Array): void;
  /** Writes the noisy latents of `count` frames from `start`, in the network's layout: [C, count, h, w]. */
  readWindow(start: number, count: number, target: Float32Array): void;
  /** Adds the network's prediction for the frames from `start`, each multiplied by its weight. */
  addPrediction(start: number, weights: Float32Array, values: Float32Array): void;
  /** Has the frames [from, to) denoised in place, given the sums of their predictions, and sets the sums back to 0. */
  step(from: number, to: number, denoise: (noisy: Float32Array, prediction: Float32Array) => void): void;
  /** Removes the frames before `end` that are still here and returns their latents, in arrays of the pool. */
  leave(end: number): Floats[];
}

/**
 * Frame `i` gets the noise number `first + i`. Noise, prediction and step leave out the cells of a plane
 * before and after the mask, which are set to the clean latent.
 */
function createRunLatents(
  { latent: shape, mask, seed }: HighsyncParams,
  first: number,
  pool: ArrayPool,
): RunLatents {
  const area = shape.height * shape.width;
  const size = shape.channels * area;
  const span = generatedSpan(shape.width, mask);
  const generated = span.to - span.from;
  /** `prediction` is [C, generated]. */
  const frames: { clean: Float32Array; noisy: Floats; prediction: Floats }[] = [];
  /** The run's index of the first of them. */
  let offset = 0;

  const frameAt = (index: number) => {
    const frame = frames[index - offset];
    if (!frame) throw new RangeError(`frame ${index} is not being denoised`);
    return frame;
  };
  const eachChannel = (visit: (plane: number, predicted: number, channel: number) => void): void => {
    for (let channel = 0; channel < shape.channels; channel++)
      visit(channel * area, channel * generated, channel);
  };

  return {
    enter(clean) {
      const noisy = pool.take(size);
      const stream = first + offset + frames.length;
      eachChannel((plane) =>
        fillNoise(noisy, seed, stream, { from: plane + span.from, to: plane + span.to }),
      );
      restoreOutside(noisy, clean, shape, mask);
      frames.push({ clean, noisy, prediction: pool.take(shape.channels * generated).fill(0) });
    },
    readWindow(start, count, target) {
      for (let i = 0; i < count; i++) {
        const { noisy } = frameAt(start + i);
        eachChannel((plane, _, channel) =>
          target.set(noisy.subarray(plane, plane + area), (channel * count + i) * area),
        );
      }
    },
    addPrediction(start, weights, values) {
      weights.forEach((weight, i) => {
        if (weight === 0) return;
        const { prediction } = frameAt(start + i);
        eachChannel((_, predicted, channel) => {
          const there = (channel * weights.length + i) * area;
          const added = values.subarray(there + span.from, there + span.to);
          // Most frames are in one window only.
          if (weight === 1) return prediction.set(added, predicted);
          for (let k = 0; k < generated; k++) {
            prediction[predicted + k] = (prediction[predicted + k] ?? 0) + weight * (added[k] ?? 0);
          }
        });
      });
    },
    step(from, to, denoise) {
      for (let index = from; index < to; index++) {
        const { clean, noisy, prediction } = frameAt(index);
        eachChannel((plane, predicted) =>
          denoise(
            noisy.subarray(plane + span.from, plane + span.to),
            prediction.subarray(predicted, predicted + generated),
          ),
        );
        restoreOutside(noisy, clean, shape, mask);
        prediction.fill(0);
      }
    },
    leave(end) {
      const left = frames.splice(0, end - offset);
      offset = end;
      for (const { prediction } of left) pool.give(prediction);
      return left.map(({ noisy }) => noisy);
    },
  };
}
