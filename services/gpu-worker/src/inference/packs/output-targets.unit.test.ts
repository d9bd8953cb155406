import { outputTargets } from './output-targets';
import { float32Tensor } from '@lipsync/engines';
import { type TensorSpec } from '@lipsync/model-pack';

const spec = (dims: readonly (number | string)[], dtype: TensorSpec['dtype'] = 'float32'): TensorSpec => ({
  name: 'any',
  dtype,
  dims: [...dims],
});
const fresh = (length: number) => new Float32Array(length);
const feeds = { image: float32Tensor(new Float32Array(2 * 3 * 16), [2, 3, 4, 4]) };
const inputs = { image: spec(['batch', 3, 4, 'w']) };

test('an output whose dimensions are all known gets an array of its size', () => {
  const targets = outputTargets({ inputs, outputs: { latent: spec(['batch', 5, 'w']) } }, feeds, fresh);
  expect(targets['latent']).toMatchObject({ type: 'float32', dims: [2, 5, 4] });
  expect(targets['latent']?.data).toHaveLength(40);
});

test('an output that the graph sizes itself, or that holds no floats, gets none', () => {
  const outputs = { boxes: spec(['found', 4]), classes: spec([2, 4], 'int64') };
  expect(outputTargets({ inputs, outputs }, feeds, fresh)).toEqual({});
});
