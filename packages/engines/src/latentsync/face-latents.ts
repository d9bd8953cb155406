import { type ArrayPool } from '../array-pool';
import { type CallRole } from '../call-role';
import { type FeatureLayout } from '../feature-layout';
import { allOf } from '../in-order';
import { copyScaledMean } from '../scaled-mean';
import { float32Of, float32Tensor } from '../tensors';
import { type LatentsyncParams } from './latentsync-params';

type Floats = Float32Array<ArrayBuffer>;

/** What latentsync keeps of a source frame: the result of `EncodeFace`. */
export function latentLayout({ channels, height, width }: LatentsyncParams['latent']): FeatureLayout {
  return { version: '2', values: 2 * channels * height * width };
}

/**
 * Encodes a crop [3, side, side], whose array is consumed, to the scaled latents of the masked and of the whole crop,
 * [2, C, h, w], in an array of the pool. One picture per call of the graph: at 512 pixels a single picture keeps any
 * device busy, and the encoder's memory grows with each.
 */
export type EncodeFace = (crop: Floats) => Promise<Floats>;

/** `inpaint` is 1 where the face is generated; there the encoder sees mid-grey. */
export function createEncodeFace(
  { resolution: side, latent }: Pick<LatentsyncParams, 'resolution' | 'latent'>,
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
    for (let i = 0; i < masked.length; i++) masked[i] = (crop[i] ?? 0) * (1 - (inpaint[i % area] ?? 0));
    const encodings = await allOf([encode(masked), encode(crop)]);
    const latents = pool.take(2 * size);
    encodings.forEach((moments, part) => {
      copyScaledMean(moments, 0, size, latent.scale, latents, part * size);
      pool.give(moments);
    });
    return latents;
  };
}
