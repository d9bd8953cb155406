import { BILINEAR, createCropFace, type PictureFormat } from '@lipsync/kernels';
import { type ArrayPool } from '../array-pool';
import { type CallRole } from '../call-role';
import { copyScaledMean } from '../scaled-mean';
import { float32Of, float32Tensor } from '../tensors';
import { type HighsyncFaces } from './highsync-faces';
import { type HighsyncParams } from './highsync-params';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Crops the face out of a source frame before returning, and encodes it to the scaled clean latent [C, h, w], in an
 * array of the pool. One picture per call of the graph: at 512 pixels a single picture keeps any device busy, and the
 * encoder's memory grows with each.
 */
export type EncodeFace = (frame: Uint8Array, sourceIndex: number) => Promise<Floats>;

export function createFaceLatents(
  { resolution: side, latent }: Pick<HighsyncParams, 'resolution' | 'latent'>,
  { crops }: Pick<HighsyncFaces, 'crops'>,
  format: PictureFormat,
  call: CallRole,
  pool: ArrayPool,
): EncodeFace {
  const cropFace = createCropFace(format, side, BILINEAR);
  const size = latent.channels * latent.height * latent.width;
  return async (frame, sourceIndex) => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = crops.subarray(sourceIndex * 4, sourceIndex * 4 + 4);
    const image = pool.take(3 * side * side);
    cropFace(frame, { x1, y1, x2, y2 }, image, 0);
    const outputs = await call('vae_encoder', { image: float32Tensor(image, [1, 3, side, side]) });
    const clean = pool.take(size);
    const moments = float32Of(outputs, 'latent');
    copyScaledMean(moments, 0, size, latent.scale, clean, 0);
    pool.give(moments);
    return clean;
  };
}
