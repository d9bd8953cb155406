import { expectFinite } from './expect-finite';
import { SessionError, type Tensor, float32Tensor } from '@lipsync/engines';

const image = (value: number): Tensor =>
  float32Tensor(new Float32Array(3 * 64 * 64).fill(value), [1, 3, 64, 64]);
const look = (outputs: Record<string, Tensor>) => () => expectFinite('vae_decoder', { outputs, feeds: {} });

describe('expectFinite', () => {
  it.each([NaN, Infinity, -Infinity])('throws for an output of %d, with its role and name', (value) => {
    const outputs = { latent: image(0), image: image(value) };
    expect(look(outputs)).toThrow(SessionError);
    expect(look(outputs)).toThrow(/vae_decoder: 'image'/);
  });

  it('accepts finite numbers, integers and empty tensors', () => {
    const ids: Tensor = { type: 'int64', dims: [1], data: BigInt64Array.of(7n) };
    expect(look({ image: image(0.5), ids, boxes: float32Tensor(new Float32Array(0), [0, 4]) })).not.toThrow();
  });

  it('returns the fed tensors with the error, so that their memory can be reused', async () => {
    const feeds = { latent: image(0) };
    const run = async () => expectFinite('unet', { outputs: { clean: image(NaN) }, feeds });
    await expect(run()).rejects.toMatchObject({ reason: 'run_failed', feeds });
  });
});
