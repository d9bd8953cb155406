import { type ArrayPool } from './array-pool';
import { type CallRole } from './call-role';
import { type LatentParams } from './latent-params';
import { float32Of, float32Tensor } from './tensors';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Decodes one scaled latent to a picture [3, side, side]. The latent's first channel lies at `offset`, every other one
 * `stride` values after its predecessor.
 */
export type DecodeLatent = (latents: Float32Array, offset: number, stride: number) => Promise<Floats>;

export function createDecodeLatent(
  { channels, height, width, scale }: LatentParams,
  call: CallRole,
  pool: ArrayPool,
): DecodeLatent {
  const plane = height * width;
  return async (latents, offset, stride) => {
    const scaled = pool.take(channels * plane);
    for (let channel = 0; channel < channels; channel++) {
      const from = offset + channel * stride;
      for (let i = 0; i < plane; i++) scaled[channel * plane + i] = (latents[from + i] ?? 0) / scale;
    }
    const latent = float32Tensor(scaled, [1, channels, height, width]);
    return float32Of(await call('vae_decoder', { latent }), 'image');
  };
}
