import { declaredTensors, type RoleTensors } from './compare-tensors';
import { type Tensor, type Tensors, float32Tensor, type TakeFloats } from '@lipsync/engines';

/**
 * Allocates the outputs of a role whose shapes follow from its feeds: every dimension is a number, or a name whose size
 * the feeds determine. Keyed by the manifest's names, like the feeds.
 */
export function outputTargets(role: RoleTensors, feeds: Tensors, take: TakeFloats): Tensors {
  const sizes = new Map<string, number>();
  for (const [key, { dims }] of declaredTensors(role.inputs)) {
    dims.forEach((dim, axis) => {
      const size = feeds[key]?.dims[axis];
      if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
    });
  }
  const targets: Record<string, Tensor> = {};
  for (const [key, { dtype, dims }] of declaredTensors(role.outputs)) {
    const known = dims.flatMap((dim) => (typeof dim === 'number' ? dim : (sizes.get(dim) ?? [])));
    if (dtype !== 'float32' || known.length < dims.length) continue;
    targets[key] = float32Tensor(take(known.reduce((product, size) => product * size, 1)), known);
  }
  return targets;
}
