import { type TensorSpec } from '@lipsync/model-pack';

/** A float32 tensor of a manifest. */
export function floatTensor(
  name: string,
  dims: readonly (number | string)[],
  range?: readonly [number, number],
): TensorSpec {
  const spec = { name, dtype: 'float32' as const, dims: [...dims] };
  return range === undefined ? spec : { ...spec, range: [...range] };
}
