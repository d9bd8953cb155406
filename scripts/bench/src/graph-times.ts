import { availableParallelism } from 'node:os';
import { readPack, type Tensors } from '@lipsync/engines';
import { createSessionHost, filledTensor, loadPack } from '@lipsync/gpu-worker/inference';
import { median } from '@lipsync/local-stack';
import { type PackRole, packRoles } from '@lipsync/model-pack';

/** Times of one graph, in milliseconds inside the runtime: medians over runs. */
export interface GraphTimes {
  /** The size of its free dimension; 1 for a graph without one. */
  readonly size: number;
  readonly ms: number;
  /** A run of a quarter of the size. */
  readonly quarter_ms?: number;
  /** One of each, in turn with the other. */
  readonly in_turn_ms?: number;
  /** How much longer a run takes if the one before it had another shape. */
  readonly change_ms?: number;
}

/** What this process prints: all that is known of a graph, more each time; at last, whether all graphs are timed. */
export type GraphReport =
  { readonly graph: string; readonly times: GraphTimes } | { readonly failed: string } | 'done';

/** How many runs are timed: enough of them for `ms`, within limits. */
interface Runs {
  readonly least: number;
  readonly most: number;
  readonly ms: number;
}
/** How many faces a run has, in a window of latentsync or in a batch. A change of shape may take seconds on a card. */
const ON_CARD = {
  window: 16,
  batch: 8,
  alike: { least: 3, most: 12, ms: 2000 },
  inTurn: { least: 1, most: 12, ms: 500 },
};
/** Enough to see that it works. */
const ONCE: Runs = { least: 1, most: 1, ms: 0 };
const ON_CPU: typeof ON_CARD = { window: 4, batch: 4, alike: ONCE, inTurn: ONCE };

/**
 * Entry point of a process that runs each graph of a pack alone, as the worker's inference process does. Arguments: the
 * pack's folder and the seconds that there are for it. The process that started it ends it: releasing a card takes a while.
 */
async function main([dir = '', seconds]: readonly string[]): Promise<void> {
  const report = (what: GraphReport): void => console.log(JSON.stringify(what));
  process.stdin.resume().on('close', () => process.kill(process.pid, 'SIGKILL'));
  try {
    await timeGraphs(dir, Number(seconds), (graph, times) => report({ graph, times }));
    report('done');
  } catch (error) {
    report({ failed: error instanceof Error ? error.message : String(error) });
  }
}

/** Each graph has an equal share of the time that those before it left. */
async function timeGraphs(
  dir: string,
  seconds: number,
  found: (graph: string, times: GraphTimes) => void,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  const host = createSessionHost();
  const pack = await readPack(dir);
  const loaded = await loadPack(host, pack, { cores: availableParallelism(), probe: false });
  const roles = [...packRoles(pack.manifest)];
  for (const [index, [name, role]] of roles.entries()) {
    const now = performance.now();
    const shareEnd = now + (end - now) / (roles.length - index);
    /** One run with this size of the free dimensions. */
    const run = async (size: number): Promise<number> => {
      const feeds = feedsOf(role, size);
      const before = host.runMs();
      await loaded.run(name, feeds);
      return host.runMs() - before;
    };
    const extent = loaded.provider === 'cpu' ? ON_CPU : ON_CARD;
    const hasTime = (): boolean => performance.now() < shareEnd;
    for await (const times of timesOf(role, { run, hasTime, extent })) found(name, times);
  }
}

interface Timing {
  readonly run: (size: number) => Promise<number>;
  /** Whether this graph's share of the time is not used up. */
  readonly hasTime: () => boolean;
  readonly extent: typeof ON_CARD;
}

/** Yields what is known after each measurement; those that there is no time for are left out. */
async function* timesOf(role: PackRole, { run, hasTime, extent }: Timing): AsyncGenerator<GraphTimes> {
  const [free] = freeDimensions(role);
  const faces = free === 'frames' && role.inputs['audio'] !== undefined ? extent.window : extent.batch;
  const size = free === undefined ? 1 : faces;
  const timed = async (each: () => Promise<number>, { least, most, ms }: Runs): Promise<number> => {
    const runs: number[] = [];
    let spent = 0;
    while (runs.length === 0 || (hasTime() && runs.length < most && (runs.length < least || spent < ms))) {
      const took = await each();
      runs.push(took);
      spent += took;
    }
    return rounded(median(runs));
  };

  // The first run of a shape prepares.
  await run(size);
  const ms = await timed(() => run(size), extent.alike);
  yield { size, ms };
  if (free === undefined || !hasTime()) return;
  const quarter = size / 4;
  await run(quarter);
  const quarterMs = await timed(() => run(quarter), extent.alike);
  yield { size, ms, quarter_ms: quarterMs };
  if (!hasTime()) return;
  // The run before had a quarter: in a pair, both runs follow one of another shape.
  const inTurn = await timed(async () => (await run(size)) + (await run(quarter)), extent.inTurn);
  const change = rounded((inTurn - ms - quarterMs) / 2);
  yield { size, ms, quarter_ms: quarterMs, in_turn_ms: inTurn, change_ms: change };
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

void main(process.argv.slice(2));
