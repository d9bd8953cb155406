import { type FaceEncoder } from './engine';
import { createInOrder } from './in-order';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from './model';
import { type LatentParams } from './params';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Decodes up to `batch` scaled latents to pictures [3, side, side], in arrays of the pool. The first channel of each lies
 * at its offset, every other one `stride` values after its predecessor.
 */
type DecodeLatents = (
  latents: Float32Array,
  offsets: readonly number[],
  stride: number,
) => Promise<readonly Floats[]>;

/** Every call of the graph has `batch` pictures: the first one again in place of those that are missing. */
export function createDecodeLatents(
  { channels, height, width, scale }: LatentParams,
  batch: number,
  call: CallRole,
  pool: ArrayPool,
): DecodeLatents {
  const plane = height * width;
  const size = channels * plane;
  const unscale = 1 / scale;
  return async (latents, offsets, stride) => {
    const scaled = pool.take(batch * size);
    for (const [place, offset] of offsets.entries()) {
      for (let channel = 0; channel < channels; channel++) {
        const from = offset + channel * stride;
        const to = place * size + channel * plane;
        for (let i = 0; i < plane; i++) scaled[to + i] = (latents[from + i] ?? 0) * unscale;
      }
    }
    fillUp(scaled, size, offsets.length);
    const latent = float32Tensor(scaled, [batch, channels, height, width]);
    const images = float32Of(await call('vae_decoder', { latent }), 'image');
    if (batch === 1) return [images];
    const pixels = images.length / batch;
    const separate = offsets.map((_, place) => {
      const image = pool.take(pixels);
      image.set(images.subarray(place * pixels, (place + 1) * pixels));
      return image;
    });
    pool.give(images);
    return separate;
  };
}

/** Repeats the first of `count` blocks of a size to the end of an array, so that a graph always sees one shape. */
export function fillUp(values: Floats, size: number, count: number): void {
  for (let at = count * size; at < values.length; at += size) values.copyWithin(at, 0, size);
}

/** Cuts a list into pieces of a length; the last one may be shorter. */
export function piecesOf<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, i) =>
    items.slice(i * length, (i + 1) * length),
  );
}

/**
 * Copies `count` values of an encoder's output for one picture, scaled. Mean and log-variance are stacked on the
 * channels; using only the mean, which comes first, makes results repeatable.
 */
export function copyScaledMean(
  moments: Float32Array,
  from: number,
  count: number,
  scale: number,
  target: Float32Array,
  to: number,
): void {
  for (let i = 0; i < count; i++) target[to + i] = (moments[from + i] ?? 0) * scale;
}

/** Groups of faces that are encoded while the next frame is decoded. */
const ENCODING = 2;

interface FrameEncoderParts {
  /** Number of faces that are encoded together. */
  readonly together: number;
  /** See `FaceEncoder.lacks`. */
  readonly isMissing: (source: number) => boolean;
  /** Copies the face out of its frame. */
  readonly cut: (frame: Uint8Array, source: number) => Floats;
  /** Computes the values to store for each of these faces, whose arrays it takes over. */
  readonly encode: (faces: readonly Floats[]) => Promise<readonly Floats[]>;
  /** Stores the values; nothing reads them afterwards. */
  readonly keep: (source: number, values: Floats) => void;
}

/** Encodes every missing face of a video, a few at a time, for a preparation. */
export function createFrameEncoder(parts: FrameEncoderParts): FaceEncoder {
  const { together, isMissing, cut, encode, keep } = parts;
  const encoding = createInOrder<() => void>(ENCODING, (store) => store());
  let waiting: { readonly source: number; readonly face: Floats }[] = [];
  const send = (): Promise<void> => {
    const group = waiting;
    waiting = [];
    return encoding.add(async () => {
      const values = await encode(group.map(({ face }) => face));
      return () => values.forEach((ofFace, i) => keep(group[i]?.source ?? -1, ofFace));
    });
  };
  return {
    async add(frame, source) {
      if (!isMissing(source)) return;
      waiting.push({ source, face: cut(frame, source) });
      if (waiting.length === together) await send();
    },
    async flush() {
      if (waiting.length > 0) await send();
      await encoding.finish();
    },
    lacks: isMissing,
  };
}
