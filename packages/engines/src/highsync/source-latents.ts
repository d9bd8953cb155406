import { type ArrayPool } from '../array-pool';
import { type ClipInput, type FrameStream } from '../engine';
import { type Run } from '../face/connected-runs';
import { createInOrder } from '../in-order';
import { type EncodeFace } from './face-latents';
import { type KeptLatents } from './kept-latents';

type Floats = Float32Array<ArrayBuffer>;

/** The clean latents of source frames, by source index. */
export type LatentsBySource = ReadonlyMap<number, Float32Array>;

/** Number of faces that are encoded while the next frame is read. */
const ENCODING = 2;

/** Provides the clean latents that a stretch of output frames needs. */
export interface SourceLatents {
  /**
   * Runs `work` with the latents of output frames [start, end), all of which show a face; their memory is reused once
   * it has ended. Stretches come in order, one at a time.
   */
  use<T>(stretch: Run, signal: AbortSignal, work: (latents: LatentsBySource) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Latents that are not stored are encoded from a second stream of the output's pictures, which runs ahead of the stream
 * that faces are pasted into. It is opened when the first latent is missing, and never if all are stored.
 */
export function createSourceLatents(
  { sources, openFrames }: Pick<ClipInput, 'sources' | 'openFrames'>,
  kept: KeptLatents,
  encode: EncodeFace,
  /** The pool of the arrays that `encode` returns. */
  pool: ArrayPool,
): SourceLatents {
  let stream: FrameStream | undefined;
  let frame = new Uint8Array(0);
  /** Number of output frames that the stream has passed. */
  let passed = 0;

  const encodeMissing = async (
    missing: Set<number>,
    end: number,
    latents: Map<number, Floats>,
    signal: AbortSignal,
  ): Promise<void> => {
    if (!stream) {
      stream = openFrames();
      frame = new Uint8Array(stream.frameBytes);
    }
    const encoding = createInOrder<readonly [number, Floats]>(ENCODING, ([source, latent]) => {
      latents.set(source, latent);
      kept.keep(source, latent);
    });
    try {
      for (; passed < end && missing.size > 0; passed++) {
        signal.throwIfAborted();
        if (!(await stream.readInto(frame))) throw new Error('the video ended before its timeline');
        const source = sources[passed] ?? -1;
        if (!missing.delete(source)) continue;
        await encoding.add(async () => [source, await encode(frame, source)]);
      }
      await encoding.finish();
    } finally {
      await encoding.settle();
    }
  };

  const load = async ({ start, end }: Run, signal: AbortSignal): Promise<Map<number, Floats>> => {
    const latents = new Map<number, Floats>();
    const missing = new Set<number>();
    for (const source of new Set(sources.slice(start, end))) {
      const found = kept.find(source);
      if (found) {
        const latent = pool.take(found.length);
        latent.set(found);
        latents.set(source, latent);
      } else missing.add(source);
    }
    if (missing.size > 0) await encodeMissing(missing, end, latents, signal);
    return latents;
  };

  return {
    async use(stretch, signal, work) {
      const latents = await load(stretch, signal);
      try {
        return await work(latents);
      } finally {
        for (const latent of latents.values()) pool.give(latent);
      }
    },
    async close() {
      await stream?.close();
    },
  };
}
