import { type RunModel } from '../run-model';
import { type Tensor } from '../tensor';

/**
 * Runs a model as the session thread does with preallocated outputs: the arrays remain the caller's. Counts by role the
 * runs, and the outputs in memory that no earlier output had.
 */
export function reusingRuns(run: RunModel) {
  const seen = new Set<Float32Array>();
  const runs = new Map<string, number>();
  const fresh = new Map<string, number>();
  const add = (counts: Map<string, number>, role: string): void =>
    void counts.set(role, (counts.get(role) ?? 0) + 1);
  const reusing: RunModel = async (role, feeds, take) => {
    add(runs, role);
    const result = await run(role, structuredClone(feeds));
    const outputs = Object.entries(result.outputs).map(([name, tensor]): [string, Tensor] => {
      if (tensor.type !== 'float32') return [name, tensor];
      const data = take?.(tensor.data.length) ?? tensor.data;
      if (take) data.set(tensor.data);
      if (!seen.has(data)) add(fresh, role);
      seen.add(data);
      return [name, { ...tensor, data }];
    });
    return { outputs: Object.fromEntries(outputs), feeds };
  };
  return { run: reusing, runs, fresh };
}
