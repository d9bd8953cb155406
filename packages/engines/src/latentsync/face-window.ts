import { type Affine, type AlignedCrop } from '@lipsync/kernels';
import { type ClipInput, type FeatureLayout } from '../engine';
import { allEnded, mapConcurrently } from '../in-order';
import { copyScaledMean } from '../latents';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from '../model';
import { type Instant, type Pace } from '../pace';
import { type InstantBatch } from '../paced-clip';
import { type LatentsyncParams } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** What the windows of one clip need. */
export interface WindowParts {
  readonly clip: ClipInput;
  readonly params: LatentsyncParams;
  readonly pool: ArrayPool;
  readonly pace: Pick<Pace, 'instants' | 'runs'>;
  /** The transform from a source frame to its crop. */
  transformOf(source: number): Affine;
  readonly crop: AlignedCrop;
  readonly encode: EncodeFace;
  /**
   * Generates a full window and decodes those of its last `count` faces that are shown: crops [3, side, side] in [-1, 1].
   * No longer needs the faces' latents when it returns.
   */
  generate(window: readonly EncodedFace[], count: number): Promise<readonly Floats[]>;
}

/** A face to generate. */
interface WantedFace {
  readonly index: number;
  readonly instant: Instant;
  /** From the frame to the crop. */
  readonly transform: Affine;
  /** The crop [3, side, side], or its latents if it was encoded before. */
  readonly seen: { readonly crop: Floats } | { readonly latents: Floats };
}

interface EncodedFace extends Pick<WantedFace, 'index' | 'instant' | 'transform'> {
  readonly latents: Floats;
}

/**
 * The windows of one clip, each of consecutive instants of a run. The network always sees a full one: what a batch
 * lacks, it sees of the faces before, whose pictures are done and stay as they are; and before the first face of a run,
 * of those after it, as if time had run backwards.
 */
export function createFaceWindows(parts: WindowParts): () => InstantBatch {
  const { clip, params, pool, pace } = parts;
  const layout = latentLayout(params.latent);

  const see = (frame: Uint8Array, source: number, transform: Affine): WantedFace['seen'] => {
    if (clip.features.has(source)) {
      const latents = pool.take(layout.values);
      clip.features.read(source, latents, 0);
      return { latents };
    }
    const cropped = pool.take(3 * params.resolution ** 2);
    parts.crop(frame, transform, cropped, 0);
    return { crop: cropped };
  };
  const encoded = async ({ seen, ...face }: WantedFace): Promise<EncodedFace> => {
    if ('latents' in seen) return { ...face, latents: seen.latents };
    const latents = await parts.encode(seen.crop);
    clip.features.write(face.instant.source, latents, 0);
    return { ...face, latents };
  };

  /** Starts a window once the one before it has started, and says which faces the next one may see again. */
  const start = async (
    previous: Promise<{ readonly kept: readonly EncodedFace[] }>,
    wanted: Promise<readonly EncodedFace[]>,
  ) => {
    const [{ kept: earlier }, own] = await allEnded([previous, wanted]);
    const [first = 0, last = 0] = [own[0]?.index, own.at(-1)?.index];
    const run = pace.runs.find(({ end }) => first < end) ?? { start: first, end: first };
    const before = earlier.filter(({ index }) => index >= run.start && index < first);
    const faces = [...before, ...own];
    const generating = parts.generate(fullWindow(faces, params.window), own.length);
    const kept = last === run.end - 1 ? [] : faces.slice(-params.window);
    for (const face of [...earlier, ...own]) if (!kept.includes(face)) pool.give(face.latents);
    return { kept, generating };
  };
  let latest: Promise<{ readonly kept: readonly EncodedFace[] }> = Promise.resolve({ kept: [] });

  return () => {
    const faces: WantedFace[] = [];
    return {
      take(frame, index) {
        const instant = pace.instants[index];
        if (!instant) throw new RangeError(`there is no instant ${index}`);
        const transform = parts.transformOf(instant.source);
        faces.push({ index, instant, transform, seen: see(frame, instant.source, transform) });
      },
      async infer() {
        const started = start(latest, mapConcurrently(faces, encoded, clip.signal));
        latest = started;
        const images = await (await started).generating;
        const shown = faces.filter(({ instant }) => instant.shown);
        return new Map(images.map((image, i) => [shown[i]?.index ?? -1, image]));
      },
    };
  };
}

/**
 * The last `length` of some consecutive faces. Where there are fewer, those before the first are the ones after it, in
 * reverse, and so on at either end.
 */
function fullWindow<T>(faces: readonly T[], length: number): T[] {
  const last = faces.length - 1;
  return Array.from({ length }, (_, place) => {
    const back = (length - 1 - place) % Math.max(1, 2 * last);
    return faces[last - Math.min(back, 2 * last - back)];
  }).flatMap((face) => face ?? []);
}

/** What latentsync keeps of a source frame: the result of `EncodeFace`. */
export function latentLayout({ channels, height, width }: LatentsyncParams['latent']): FeatureLayout {
  return { version: '2', values: 2 * channels * height * width };
}

/**
 * Encodes a crop [3, side, side], whose array is consumed, to the scaled latents of the masked and of the whole crop,
 * [2, C, h, w], in an array of the pool. One picture per call of the graph: at 512 pixels a single picture keeps any
 * device busy, and the encoder's memory grows with each.
 */
type EncodeFace = (crop: Floats) => Promise<Floats>;

/** `inpaint` is 1 where the face is generated; there the encoder sees mid-gray. */
export function createEncodeFace(
  { resolution: side, latent }: LatentsyncParams,
  inpaint: Float32Array,
  call: CallRole,
  pool: ArrayPool,
): EncodeFace {
  const area = side * side;
  const size = latent.channels * latent.height * latent.width;

  const encode = async (image: Floats): Promise<Floats> =>
    float32Of(await call('vae_encoder', { image: float32Tensor(image, [1, 3, side, side]) }), 'latent');

  return async (crop) => {
    const masked = pool.take(crop.length);
    for (let plane = 0; plane < crop.length; plane += area) {
      for (let i = 0; i < area; i++) masked[plane + i] = (crop[plane + i] ?? 0) * (1 - (inpaint[i] ?? 0));
    }
    const encodings = await allEnded([encode(masked), encode(crop)]);
    const latents = pool.take(2 * size);
    encodings.forEach((moments, part) => {
      copyScaledMean(moments, 0, size, latent.scale, latents, part * size);
      pool.give(moments);
    });
    return latents;
  };
}
