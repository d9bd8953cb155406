import { modelPath, type PackRole, packRoles } from '@lipsync/model-pack';
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { type Pack } from '../packs';
import { type RunModel } from '../run-model';
import { type Tensor, type Tensors } from '../tensor';

/**
 * Runs the graphs of packs in this process, with the manners of the worker's sessions: a fed array is detached by the
 * call and comes back among the feeds, and outputs are written to arrays of `take`.
 */
export function testSessions() {
  const sessions: InferenceSession[] = [];

  async function load(pack: Pack): Promise<RunModel> {
    const roles = packRoles(pack.manifest);
    const graphs = new Map<string, InferenceSession>();
    for (const [name, role] of roles) {
      // One thread, because tests run in parallel, and a spinning pool would take the cores from all of them.
      const graph = await InferenceSession.create(modelPath(pack, role), { intraOpNumThreads: 1 });
      sessions.push(graph);
      graphs.set(name, graph);
    }
    return async (name, feeds, take) => {
      const role = roles.get(name);
      const graph = graphs.get(name);
      if (!role || !graph) throw new Error(`the pack has no role '${name}'`);
      const buffers = new Set(Object.values(feeds).map(({ data }) => data.buffer));
      const moved: Tensors = structuredClone(feeds, { transfer: [...buffers] });
      const results = await graph.run(
        Object.fromEntries(
          Object.entries(moved).map(([key, { type, data, dims }]) => [
            role.inputs[key]?.name ?? key,
            new OrtTensor(type, data, dims),
          ]),
        ),
      );
      const outputs = Object.entries(results).map(([graphName, { data, dims }]): [string, Tensor] => {
        if (!(data instanceof Float32Array)) throw new TypeError('only float32 leaves the tested graphs');
        // A copy, because the runtime may reuse its memory.
        const copy = take?.(data.length) ?? new Float32Array(data.length);
        copy.set(data);
        return [keyOf(role, graphName), { type: 'float32', data: copy, dims }];
      });
      return { outputs: Object.fromEntries(outputs), feeds: moved };
    };
  }

  return {
    load,
    async close() {
      for (const session of sessions) await session.release();
    },
  };
}

/** The manifest's name of a graph's output. */
function keyOf({ outputs }: PackRole, graphName: string): string {
  return Object.entries(outputs).find(([, spec]) => spec?.name === graphName)?.[0] ?? graphName;
}
