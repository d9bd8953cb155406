import { BILINEAR, createCropFace, LANCZOS, type PictureFormat } from '@lipsync/kernels';
import { type ClipInput, type FeatureLayout, type FrameFeatures, type FrameStream } from '../engine';
import { boxAt } from '../face/landmarks';
import { type Run } from '../face/smoothing';
import { createInOrder } from '../in-order';
import { copyScaledMean } from '../latents';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from '../model';
import { type Pace } from '../pace';
import { type HighsyncFaces } from './faces';
import { type HighsyncParams } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** The clean latents of source frames, by source index. */
export type LatentsBySource = ReadonlyMap<number, Float32Array>;

/** Number of faces that are encoded while the next frame is read. */
const ENCODING = 2;

/**
 * Provides the clean latents that the faces of instants need. Those that are not stored are encoded from a second
 * stream of the output's pictures, which runs ahead of the stream that faces are pasted into. It is opened when the
 * first latent is missing, and never if all are stored.
 */
export function createSourceLatents(
  clip: Pick<ClipInput, 'sources' | 'openFrames'> & Pick<Pace, 'instants'>,
  kept: CachedLatents,
  faceLatents: FaceLatents,
  /** The pool of the latents. */
  pool: ArrayPool,
) {
  const { sources, instants } = clip;
  let stream: FrameStream | undefined;
  let frame = new Uint8Array(0);
  /** Number of output frames that the stream has passed. */
  let passed = 0;
  const held = new Map<number, Floats>();

  /** Encodes source frames that the output shows up to its frame `last`. */
  const encodeMissing = async (missing: Set<number>, last: number, signal: AbortSignal): Promise<void> => {
    if (!stream) {
      stream = clip.openFrames();
      frame = new Uint8Array(stream.frameBytes);
    }
    const encoding = createInOrder<readonly [number, Floats]>(ENCODING, ([source, latent]) => {
      held.set(source, latent);
      kept.keep(source, latent);
    });
    try {
      for (; passed <= last && missing.size > 0; passed++) {
        signal.throwIfAborted();
        if (!(await stream.readInto(frame))) throw new Error('the video ended before its timeline');
        const source = sources[passed] ?? -1;
        if (!missing.delete(source)) continue;
        await encoding.add(async () => [source, await faceLatents.encode(faceLatents.cut(frame, source))]);
      }
      await encoding.finish();
    } finally {
      await encoding.settle();
    }
  };

  return {
    /**
     * The latents of the source frames of instants [start, end); the memory of those of other frames is reused. Calls
     * come one at a time, and neither end moves back.
     */
    async hold({ start, end }: Run, signal: AbortSignal): Promise<LatentsBySource> {
      const wanted = new Set(instants.slice(start, end).map(({ source }) => source));
      for (const [source, latent] of held) {
        if (wanted.has(source)) continue;
        held.delete(source);
        pool.give(latent);
      }
      const missing = new Set<number>();
      for (const source of wanted) {
        if (held.has(source)) continue;
        const found = kept.find(source);
        if (found) {
          const latent = pool.take(found.length);
          latent.set(found);
          held.set(source, latent);
        } else missing.add(source);
      }
      if (missing.size > 0) await encodeMissing(missing, instants[end - 1]?.output ?? -1, signal);
      return held;
    },
    async close(): Promise<void> {
      await stream?.close();
    },
  };
}

/** Crops the face out of a source frame, in an array of the pool, and encodes such crops. */
interface FaceLatents {
  readonly cut: (frame: Uint8Array, sourceIndex: number) => Floats;
  /**
   * The scaled clean latent [C, h, w] of a crop, whose array it takes over. One picture per call of the graph: at 512
   * pixels a single picture keeps any device busy, and the encoder's memory grows with each.
   */
  readonly encode: (image: Floats) => Promise<Floats>;
}

export function createFaceLatents(
  {
    resolution: side,
    interpolation,
    latent,
  }: Pick<HighsyncParams, 'resolution' | 'interpolation' | 'latent'>,
  { crops }: HighsyncFaces,
  format: PictureFormat,
  call: CallRole,
  pool: ArrayPool,
): FaceLatents {
  const cropFace = createCropFace(format, side, interpolation === 'lanczos' ? LANCZOS : BILINEAR);
  const size = latent.channels * latent.height * latent.width;
  return {
    cut(frame, sourceIndex) {
      const image = pool.take(3 * side * side);
      cropFace(frame, boxAt(crops, sourceIndex), image, 0);
      return image;
    },
    async encode(image) {
      const outputs = await call('vae_encoder', { image: float32Tensor(image, [1, 3, side, side]) });
      const clean = pool.take(size);
      const moments = float32Of(outputs, 'latent');
      copyScaledMean(moments, 0, size, latent.scale, clean, 0);
      pool.give(moments);
      return clean;
    },
  };
}

/** Number of values stored after every latent: the corners of the crop that it was made from. */
const CORNERS = 4;

/** Clean latents that outlive the clip. */
interface CachedLatents {
  /**
   * The latent of a source frame, in memory that the next call reuses; null when there is none, or when it was made
   * from a different crop than the current one.
   */
  find(sourceIndex: number): Floats | null;
  keep(sourceIndex: number, latent: Float32Array): void;
}

/** What highsync keeps per source frame: its latent and the crop. */
export function cachedLayout({ channels, height, width }: HighsyncParams['latent']): FeatureLayout {
  return { version: '1', values: channels * height * width + CORNERS };
}

/**
 * Compares the crop because it depends on the whole shot: a track that was made for a shorter output may not have
 * included the frame that determines the shot's height.
 */
export function createCachedLatents(
  layout: FeatureLayout,
  features: FrameFeatures,
  { crops }: HighsyncFaces,
): CachedLatents {
  const { values } = layout;
  const size = values - CORNERS;
  const record = new Float32Array(values);
  const latentPart = record.subarray(0, size);
  const cropOf = (sourceIndex: number): Float32Array =>
    crops.subarray(sourceIndex * CORNERS, (sourceIndex + 1) * CORNERS);
  return {
    find(sourceIndex) {
      if (!features.has(sourceIndex)) return null;
      features.read(sourceIndex, record, 0);
      const crop = cropOf(sourceIndex);
      return crop.every((edge, i) => edge === record[size + i]) ? latentPart : null;
    },
    keep(sourceIndex, latent) {
      latentPart.set(latent);
      record.set(cropOf(sourceIndex), size);
      features.write(sourceIndex, record, 0);
    },
  };
}
