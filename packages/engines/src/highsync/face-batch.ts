import { type FaceBatch } from '../engine';
import { decodedFaces } from '../latents';
import { type ArrayPool } from '../model';

type Floats = Float32Array<ArrayBuffer>;

/** Faces that are pasted together while the next ones are decoded. */
export const BATCH_SIZE = 4;

/** What the batches of one clip need. */
export interface BatchParts {
  readonly pool: ArrayPool;
  /** The stretch that an output frame belongs to; −1 when it shows no face. */
  stretchOf(output: number): number;
  /** Generates the crops of output frames of one stretch, each [3, side, side] in [-1, 1]. */
  generate(stretch: number, outputs: readonly number[]): Promise<readonly Floats[]>;
  /** Blends a crop into its frame. */
  paste(frame: Uint8Array, output: number, image: Floats): void;
}

/** Output frames of one stretch that need a face. */
export class WantedFaces implements FaceBatch {
  private readonly outputs: number[] = [];
  /** The stretch of the frames taken so far; undefined while there are none. */
  private stretch: number | undefined;

  constructor(private readonly parts: BatchParts) {}

  get size(): number {
    return this.outputs.length;
  }

  joins(output: number): boolean {
    const stretch = this.parts.stretchOf(output);
    return stretch < 0 || stretch === this.stretch;
  }

  take(_frame: Uint8Array, output: number): number | null {
    const stretch = this.parts.stretchOf(output);
    if (stretch < 0) return null;
    if (this.size >= BATCH_SIZE) throw new RangeError('the batch is full');
    this.stretch ??= stretch;
    if (this.stretch !== stretch) throw new RangeError('the batch is of another stretch');
    return this.outputs.push(output) - 1;
  }

  async infer() {
    const { outputs, stretch, parts } = this;
    const images = stretch === undefined ? [] : await parts.generate(stretch, outputs);
    return decodedFaces(
      outputs,
      images,
      (frame, image, output) => parts.paste(frame, output, image),
      () => images.forEach((image) => parts.pool.give(image)),
    );
  }
}

/**
 * The results of stretches, which are processed in order, one at a time, one ahead of the stretch being consumed. `work`
 * gets a signal that aborts when `signal` does or when the queue is closed.
 */
export function createStretchQueue<T>(
  count: number,
  work: (index: number, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
) {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const results = new Map<number, Promise<T>>();
  let last: Promise<unknown> = Promise.resolve();

  const start = (index: number): Promise<T> => {
    const begun = results.get(index);
    if (begun) return begun;
    const result = last.then(() => {
      either.throwIfAborted();
      return work(index, either);
    });
    results.set(index, result);
    // The failure goes to whoever wants this stretch; the next stretch succeeds or fails on its own.
    last = Promise.allSettled([result]);
    return result;
  };

  return {
    /** The result of a stretch; starts the next stretch after it and forgets the ones before. Call in order. */
    async want(index: number): Promise<T> {
      for (const passed of results.keys()) if (passed < index) results.delete(passed);
      const result = start(index);
      const value = await result;
      // Not earlier: only two stretches may be in memory, the requested one and the one in progress.
      if (index + 1 < count) void Promise.allSettled([start(index + 1)]);
      return value;
    },
    /** Stops the work in progress and resolves when it has ended. */
    async close(): Promise<void> {
      stop.abort(new Error('the clip was closed'));
      await last;
      results.clear();
    },
  };
}
