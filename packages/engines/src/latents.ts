import { type FaceEncoder } from './engine';
import { createInOrder } from './in-order';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from './model';
import { type LatentParams } from './params';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Decodes one scaled latent to a picture [3, side, side]. The latent's first channel lies at `offset`, every other one
 * `stride` values after its predecessor.
 */
type DecodeLatent = (latents: Float32Array, offset: number, stride: number) => Promise<Floats>;

export function createDecodeLatent(
  { channels, height, width, scale }: LatentParams,
  call: CallRole,
  pool: ArrayPool,
): DecodeLatent {
  const plane = height * width;
  const unscale = 1 / scale;
  return async (latents, offset, stride) => {
    const scaled = pool.take(channels * plane);
    for (let channel = 0; channel < channels; channel++) {
      const from = offset + channel * stride;
      const to = channel * plane;
      for (let i = 0; i < plane; i++) scaled[to + i] = (latents[from + i] ?? 0) * unscale;
    }
    const latent = float32Tensor(scaled, [1, channels, height, width]);
    return float32Of(await call('vae_decoder', { latent }), 'image');
  };
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

/** Number of faces that are encoded while the next frame is decoded. */
const ENCODING = 2;

interface FrameEncoderParts {
  /** See `FaceEncoder.lacks`. */
  readonly isMissing: (source: number) => boolean;
  /** Computes the values to store for a frame's face; must no longer need `frame` when it returns. */
  readonly encode: (frame: Uint8Array, source: number) => Promise<Floats>;
  /** Stores the values; nothing reads them afterwards. */
  readonly keep: (source: number, values: Floats) => void;
}

/** Encodes every missing face of a video, frame by frame, for a preparation. */
export function createFrameEncoder({ isMissing, encode, keep }: FrameEncoderParts): FaceEncoder {
  const encoding = createInOrder<readonly [number, Floats]>(ENCODING, ([source, values]) =>
    keep(source, values),
  );
  return {
    async add(frame, source) {
      if (isMissing(source)) await encoding.add(async () => [source, await encode(frame, source)]);
    },
    flush: () => encoding.finish(),
    lacks: isMissing,
  };
}
