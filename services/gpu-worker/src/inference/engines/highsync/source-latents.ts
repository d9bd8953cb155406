import { type Run } from '@lipsync/lipsync';
import { type ClipInput, type FrameStream } from '../engine';
import { type EncodeFace } from './face-latents';
import { createInOrder } from '../in-order';
import { type KeptLatents } from './kept-latents';

/** The clean latents of source frames, by source index. */
export type LatentsBySource = ReadonlyMap<number, Float32Array>;

/** Faces that are encoded while the next frame is read. */
const ENCODING = 2;

/** Gets the clean latents that a stretch of output frames needs. */
export interface SourceLatents {
  /** Those of output frames [start, end), all of which show a face. Stretches come in order, one at a time. */
  load(stretch: Run, signal: AbortSignal): Promise<LatentsBySource>;
  close(): Promise<void>;
}

/**
 * What is not kept is encoded from a second look at the output's pictures, which runs ahead of the one that is pasted
 * into. It is opened when the first latent is missing, and never where all are kept.
 */
export function createSourceLatents(
  { sources, openFrames }: Pick<ClipInput, 'sources' | 'openFrames'>,
  kept: KeptLatents,
  encode: EncodeFace,
): SourceLatents {
  let stream: FrameStream | undefined;
  let frame = new Uint8Array(0);
  /** Output frames that the stream has passed. */
  let passed = 0;

  const encodeMissing = async (
    missing: Set<number>,
    end: number,
    latents: Map<number, Float32Array>,
    signal: AbortSignal,
  ): Promise<void> => {
    if (!stream) {
      stream = openFrames();
      frame = new Uint8Array(stream.frameBytes);
    }
    const encoding = createInOrder<readonly [number, Float32Array]>(ENCODING, ([source, latent]) => {
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

  return {
    async load({ start, end }, signal) {
      const latents = new Map<number, Float32Array>();
      const missing = new Set<number>();
      for (const source of new Set(sources.slice(start, end))) {
        const found = kept.find(source);
        if (found) latents.set(source, found);
        else missing.add(source);
      }
      if (missing.size > 0) await encodeMissing(missing, end, latents, signal);
      return latents;
    },
    async close() {
      await stream?.close();
    },
  };
}
