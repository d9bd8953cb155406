import { type ArrayPool } from './array-pool';
import { type RunModel } from './run-model';
import { type Tensors } from './tensor';

/**
 * Runs a role on feeds whose arrays belong to the pool. Returns them to the pool afterwards; the outputs use its arrays
 * too.
 */
export type CallRole = (role: string, feeds: Tensors) => Promise<Tensors>;

export function createCallRole(run: RunModel, pool: ArrayPool): CallRole {
  return async (role, feeds) => {
    const result = await run(role, feeds, (length) => pool.take(length));
    for (const tensor of Object.values(result.feeds)) if (tensor.type === 'float32') pool.give(tensor.data);
    return result.outputs;
  };
}
