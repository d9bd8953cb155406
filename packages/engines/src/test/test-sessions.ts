import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelPath, type PackRole, packRoles } from '@lipsync/model-pack';
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { type RunModel, type Tensor, type Tensors } from '../model';
import { type Pack } from '../packs';

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
        // Copies, because the runtime may reuse its memory.
        if (data instanceof Uint8Array)
          return [keyOf(role, graphName), { type: 'uint8', data: Uint8Array.from(data), dims }];
        if (!(data instanceof Float32Array))
          throw new TypeError('only float32 and uint8 leave the tested graphs');
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

/** A folder for packs, with sessions on them. */
export async function testPacks() {
  const sessions = testSessions();
  const folder = await mkdtemp(join(tmpdir(), 'packs-'));
  return {
    at: (name: string): string => join(folder, name),
    load: (pack: Pack): Promise<RunModel> => sessions.load(pack),
    async close() {
      await sessions.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type TestPacks = Awaited<ReturnType<typeof testPacks>>;

/** The manifest's name of a graph's output. */
function keyOf({ outputs }: PackRole, graphName: string): string {
  return Object.entries(outputs).find(([, spec]) => spec?.name === graphName)?.[0] ?? graphName;
}

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

export interface RecordedRun {
  readonly role: string;
  /** Copies, because the fed buffers themselves are transferred. */
  readonly feeds: Tensors;
}

/** Records every run of a model with its feeds. `before` may fail or delay a run. */
export function recordRuns(
  run: RunModel,
  before: (role: string, earlier: number) => Promise<void> = async () => undefined,
): { run: RunModel; runs: RecordedRun[]; count: (role: string) => number } {
  const runs: RecordedRun[] = [];
  const count = (role: string): number => runs.filter((recorded) => recorded.role === role).length;
  return {
    runs,
    count,
    run: async (role, feeds) => {
      await before(role, count(role));
      runs.push({ role, feeds: structuredClone(feeds) });
      return run(role, feeds);
    },
  };
}

/**
 * Confuses HighSync's reference: swaps the last two banks, which have the same shape, or where the graph takes latents,
 * those of the first two frames. No graph refuses them, and the graphs' probes do not notice.
 */
export function misplacedReference(run: RunModel): RunModel {
  return async (role, feeds, take) => {
    const latents = feeds['reference'];
    if (latents?.type === 'float32') {
      const { dims, data } = latents;
      const size = data.length / (dims[0] ?? 1);
      const first = data.slice(0, size);
      data.copyWithin(0, size, 2 * size).set(first, size);
    }
    const result = await run(role, feeds, take);
    if (role !== 'reference_unet') return result;
    const [one, other] = Object.entries(result.outputs).slice(-2);
    if (!one || !other) throw new TypeError('fewer than two banks');
    return { ...result, outputs: { ...result.outputs, [one[0]]: other[1], [other[0]]: one[1] } };
  };
}

/** Confuses the steps of a call: each is taken at the time of the first, as if the rest of the network reused its time. */
export function oneTimePerCall(run: RunModel): RunModel {
  return async (role, feeds, take) => {
    const { timestep } = feeds;
    if (timestep?.type === 'int64') timestep.data.fill(timestep.data[0] ?? 0n);
    return run(role, feeds, take);
  };
}
