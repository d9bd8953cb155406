import { createArrayPool, float32Of, float32Tensor, type Tensors } from '../model';
import { createEncodeFace } from './face-window';

test('both latents have their own memory, and the encoder’s output arrays are reused for its next outputs', async () => {
  const pool = createArrayPool(2);
  const answers: Float32Array[] = [];
  const call = async (_: string, feeds: Tensors): Promise<Tensors> => {
    const [first = 0] = float32Of(feeds, 'image');
    const moments = Float32Array.of(first, 2, 3, 4, 9, 9, 9, 9);
    answers.push(moments);
    return { latent: float32Tensor(moments, [1, 2, 2, 2]) };
  };
  const params = { resolution: 2, latent: { channels: 1, height: 2, width: 2, scale: 0.5 } };
  const encode = createEncodeFace(params, Float32Array.of(1, 0, 0, 0), call, pool);
  const latents = await encode(new Float32Array(12).fill(8));
  const again = [pool.take(8), pool.take(8)];
  expect(new Set(again)).toEqual(new Set(answers));
  expect(again.every((array) => answers.includes(array))).toBe(true);
  for (const array of again) array.fill(0);
  expect([...latents]).toEqual([0, 1, 1.5, 2, 4, 1, 1.5, 2]);
});
