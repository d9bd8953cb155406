import { type FaceBatch } from '../engine';
import { decodedFaces } from '../latents';
import { type ArrayPool } from '../model';
import { type DenoisedFrame } from './denoise-run';

type Floats = Float32Array<ArrayBuffer>;

/** Faces that are pasted together while the next ones are decoded. */
export const BATCH_SIZE = 4;

/** What the batches of one clip need. */
export interface BatchParts {
  readonly pool: ArrayPool;
  hasFace(output: number): boolean;
  /** Generates the crops of output frames, each [3, side, side] in [-1, 1]. */
  generate(outputs: readonly number[]): Promise<readonly Floats[]>;
  /** Blends a crop into its frame. */
  paste(frame: Uint8Array, output: number, image: Floats): void;
}

/** Output frames that need a face. */
export class WantedFaces implements FaceBatch {
  private readonly outputs: number[] = [];

  constructor(private readonly parts: BatchParts) {}

  get size(): number {
    return this.outputs.length;
  }

  joins(): boolean {
    return true;
  }

  take(_frame: Uint8Array, output: number): number | null {
    if (!this.parts.hasFace(output)) return null;
    if (this.size >= BATCH_SIZE) throw new RangeError('the batch is full');
    return this.outputs.push(output) - 1;
  }

  async infer() {
    const { outputs, parts } = this;
    const images = await parts.generate(outputs);
    return decodedFaces(
      outputs,
      images,
      (frame, image, output) => parts.paste(frame, output, image),
      () => images.forEach((image) => parts.pool.give(image)),
    );
  }
}

/**
 * Latents by output frame, from work that yields them in order, some at a time. The work goes on only while the frames of
 * its last yield are being used: these and the ones in progress are in memory. It gets a signal that aborts when `signal`
 * does or when the queue is closed.
 */
export function createLatentQueue(
  work: (signal: AbortSignal) => AsyncGenerator<readonly DenoisedFrame[], void>,
  signal: AbortSignal,
) {
  const stop = new AbortController();
  const denoised = work(AbortSignal.any([signal, stop.signal]));
  const latents = new Map<number, Floats>();
  /** What the work yields next; after a failure, the failure. */
  let coming: ReturnType<typeof denoised.next> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const proceed = () => {
    const next = denoised.next();
    // A failure goes to whoever wants the frames; until then it must not count as an unhandled rejection.
    void Promise.allSettled([next]);
    return next;
  };
  const find = async (output: number): Promise<Floats> => {
    for (;;) {
      const latent = latents.get(output);
      if (latent) {
        latents.delete(output);
        return latent;
      }
      const { value, done } = await (coming ??= proceed());
      if (done) throw new RangeError(`there is no latent of output frame ${output}`);
      for (const frame of value) latents.set(frame.output, frame.latent);
      coming = proceed();
    }
  };

  return {
    /** The latent of an output frame, in an array of the pool. Call once for each, in order. */
    want(output: number): Promise<Floats> {
      const found = last.then(() => find(output));
      last = Promise.allSettled([found]);
      return found;
    },
    /** Stops the work in progress and resolves when it has ended. */
    async close(): Promise<void> {
      stop.abort(new Error('the clip was closed'));
      await denoised.return();
    },
  };
}
