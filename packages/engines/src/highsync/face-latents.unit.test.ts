import { createArrayPool } from '../array-pool';
import { float32Tensor } from '../tensors';
import { createFaceLatents } from './face-latents';

test('the latent is the scaled mean, in separate memory, and the encoder’s output array is reused for its next output', async () => {
  const pool = createArrayPool(1);
  const moments = Float32Array.of(1, 2, 3, 4, 9, 9, 9, 9);
  const params = { resolution: 8, latent: { channels: 1, height: 2, width: 2, scale: 0.5 } };
  const format = { width: 16, height: 16, matrix: 'bt709', range: 'limited' } as const;
  const encode = createFaceLatents(
    params,
    { crops: Float32Array.of(2, 2, 10, 10) },
    format,
    async () => ({ latent: float32Tensor(moments, [1, 2, 2, 2]) }),
    pool,
  );
  const latent = await encode(new Uint8Array(16 * 16 * 1.5), 0);
  expect(pool.take(8)).toBe(moments);
  moments.fill(0);
  expect([...latent]).toEqual([0.5, 1, 1.5, 2]);
});
