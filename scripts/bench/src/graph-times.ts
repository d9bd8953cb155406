import { availableParallelism } from 'node:os';
import { type Pack, type Tensors } from '@lipsync/engines';
import { createSessionHost, filledTensor, loadPack } from '@lipsync/gpu-worker';
import { median } from '@lipsync/local-stack';
import { type PackRole, packRoles, type Provider } from '@lipsync/model-pack';
import { type EngineManifest } from './pack-bench';

/** Times of one graph, in milliseconds inside the runtime: medians over runs. */
export interface GraphTimes {
  /** Of its free dimension; 1 for a graph without one. */
  readonly size: number;
  readonly ms: number;
  /** A run of a quarter of the size. */
  readonly quarter_ms?: number;
  /** One of each, in turn with the other. */
  readonly in_turn_ms?: number;
  /** How much longer a run takes if the one before it had another shape. */
  readonly change_ms?: number;
}

/** How many faces a run has, in a window of latentsync or in a batch, and how many runs are timed: fewer of a slow graph. */
const ON_CARD = { window: 16, batch: 8, most: 12, least: 3, ms: 2000 };
/** Enough to see that it works. */
const ON_CPU: Extent = { window: 4, batch: 4, most: 1, least: 1, ms: 0 };
type Extent = Readonly<typeof ON_CARD>;

/**
 * Runs each graph of a pack alone, as the worker's inference process does. `found` is called after each. Rejects when a
 * graph cannot be loaded or run, or when `signal` is aborted.
 */
export async function timeGraphs(
  pack: Pack<EngineManifest>,
  provider: Provider,
  {
    signal,
    found,
  }: { readonly signal: AbortSignal; readonly found: (times: Record<string, GraphTimes>) => void },
): Promise<Record<string, GraphTimes>> {
  const host = createSessionHost();
  const times: Record<string, GraphTimes> = {};
  try {
    const manifest = { ...pack.manifest, providers: [provider] };
    const loaded = await loadPack(
      host,
      { ...pack, manifest },
      { cores: availableParallelism(), probe: false },
    );
    for (const [name, role] of packRoles(manifest)) {
      /** One run with this size of the free dimensions. */
      const run = async (size: number): Promise<number> => {
        signal.throwIfAborted();
        const feeds = feedsOf(role, size);
        const before = host.runMs();
        await loaded.run(name, feeds);
        return host.runMs() - before;
      };
      times[name] = await timesOf(role, run, provider === 'cpu' ? ON_CPU : ON_CARD);
      found({ ...times });
    }
    return times;
  } finally {
    // A thread inside a run ends after it.
    void host.close();
  }
}

type Run = (size: number) => Promise<number>;

async function timesOf(role: PackRole, run: Run, extent: Extent): Promise<GraphTimes> {
  const [free] = freeDimensions(role);
  if (free === undefined) return { size: 1, ms: await timed(1, run, extent) };
  const size = free === 'frames' && role.inputs['audio'] !== undefined ? extent.window : extent.batch;
  const quarter = size / 4;
  const ms = await timed(size, run, extent);
  const quarterMs = await timed(quarter, run, extent);
  const inTurn = await timed(size, async (whole) => (await run(whole)) + (await run(quarter)), extent);
  return {
    size,
    ms,
    quarter_ms: quarterMs,
    in_turn_ms: inTurn,
    change_ms: rounded((inTurn - ms - quarterMs) / 2),
  };
}

/** The median; the first run prepares. */
async function timed(size: number, run: Run, { most, least, ms }: Extent): Promise<number> {
  await run(size);
  const runs: number[] = [];
  let spent = 0;
  while (runs.length < least || (runs.length < most && spent < ms)) {
    const took = await run(size);
    runs.push(took);
    spent += took;
  }
  return rounded(median(runs));
}

const rounded = (ms: number): number => Number(ms.toFixed(3));

function freeDimensions({ inputs }: PackRole): Set<string> {
  const dims = Object.values(inputs).flatMap((spec) => spec?.dims ?? []);
  return new Set(dims.filter((dim) => typeof dim === 'string'));
}

/** Filled as for the graph's probe. */
function feedsOf(role: PackRole, size: number): Tensors {
  const sizes = Object.fromEntries([...freeDimensions(role)].map((name) => [name, size]));
  return Object.fromEntries(
    Object.entries(role.inputs).flatMap(([key, spec]) =>
      spec ? [[key, filledTensor(spec, role.probe?.fill[key] ?? 0, sizes)]] : [],
    ),
  );
}
