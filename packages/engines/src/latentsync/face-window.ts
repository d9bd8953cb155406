import { type Affine, type AlignedCrop } from '@lipsync/kernels';
import { type ClipInput, type FeatureLayout } from '../engine';
import { allEnded, mapConcurrently } from '../in-order';
import { copyScaledMean, fillUp, piecesOf } from '../latents';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from '../model';
import { type Instant, type Pace } from '../pace';
import { type InstantBatch } from '../paced-clip';
import { type LatentsyncParams } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** What the windows of one clip need. */
interface WindowParts {
  readonly clip: ClipInput;
  readonly params: LatentsyncParams;
  readonly pool: ArrayPool;
  readonly pace: Pick<Pace, 'instants' | 'runs'>;
  /** The transform from a source frame to its crop. */
  transformOf(source: number): Affine;
  readonly crop: AlignedCrop;
  readonly encoding: FaceEncoding;
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
  const encoded = async (wanted: readonly WantedFace[]): Promise<EncodedFace[]> => {
    const crops = wanted.flatMap(({ seen }) => ('crop' in seen ? [seen.crop] : []));
    const groups = piecesOf(crops, parts.encoding.together);
    const computed = (await mapConcurrently(groups, parts.encoding.encode, clip.signal)).flat();
    return wanted.flatMap(({ seen, ...face }) => {
      if ('latents' in seen) return { ...face, latents: seen.latents };
      const latents = computed.shift();
      if (!latents) return [];
      clip.features.write(face.instant.source, latents, 0);
      return { ...face, latents };
    });
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
        const started = start(latest, encoded(faces));
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

/** What latentsync keeps of a source frame: the result of `FaceEncoding.encode`. */
export function latentLayout({ channels, height, width }: LatentsyncParams['latent']): FeatureLayout {
  return { version: '2', values: 2 * channels * height * width };
}

interface FaceEncoding {
  /** Number of faces that fill a call of the graph. */
  readonly together: number;
  /**
   * Encodes crops [3, side, side], whose arrays it takes over, to the scaled latents of the masked and of the whole crop,
   * [2, C, h, w], in arrays of the pool.
   */
  readonly encode: (crops: readonly Floats[]) => Promise<readonly Floats[]>;
}

/** `inpaint` is 1 where the face is generated; there the encoder sees mid-gray. */
export function createFaceEncoding(
  { resolution: side, latent, batch = 1 }: LatentsyncParams,
  inpaint: Float32Array,
  call: CallRole,
  pool: ArrayPool,
): FaceEncoding {
  const area = side * side;
  const pixels = 3 * area;
  const size = latent.channels * latent.height * latent.width;

  const copyMasked = (crop: Floats, images: Floats, at: number): void => {
    for (let plane = 0; plane < pixels; plane += area) {
      for (let i = 0; i < area; i++)
        images[at + plane + i] = (crop[plane + i] ?? 0) * (1 - (inpaint[i] ?? 0));
    }
  };

  const encodeAll = async (crops: readonly Floats[]): Promise<readonly Floats[]> => {
    const faces = crops.map((crop) => ({ crop, latents: pool.take(2 * size) }));
    const pictures = faces.flatMap((face) => [
      { ...face, part: 0 },
      { ...face, part: 1 },
    ]);
    const encode = async (some: typeof pictures): Promise<void> => {
      const images = pool.take(batch * pixels);
      for (const [place, { crop, part }] of some.entries()) {
        if (part === 0) copyMasked(crop, images, place * pixels);
        else images.set(crop, place * pixels);
      }
      fillUp(images, pixels, some.length);
      const image = float32Tensor(images, [batch, 3, side, side]);
      const moments = float32Of(await call('vae_encoder', { image }), 'latent');
      const stride = moments.length / batch;
      for (const [place, { latents, part }] of some.entries())
        copyScaledMean(moments, place * stride, size, latent.scale, latents, part * size);
      pool.give(moments);
    };
    await allEnded(piecesOf(pictures, batch).map(encode));
    for (const { crop } of faces) pool.give(crop);
    return faces.map(({ latents }) => latents);
  };
  return { together: Math.max(1, Math.floor(batch / 2)), encode: encodeAll };
}
