import { availableParallelism, platform } from 'node:os';
import path from 'node:path';
import { createStack, type GpuWorkerPlan, machine, median, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { type LoadTestConfig } from './config';
import { defaultConfig } from './options';
import { type LoadTestReport } from './report/report';
import { runLoadTest } from './run-load-test';
import { openLocalTarget } from './target/load-target';

/** `npm run bench:scale-out`: prints one JSON object. */
async function main(): Promise<void> {
  console.log(JSON.stringify({ machine: machine(), scale_out: await benchScaleOut() }, null, 2));
}

interface ScaleOutFigures {
  /** Number of renders in each backlog. */
  renders: number;
  /** Every worker may use every core: two workers share what one had to itself. */
  all_cores: ScaleOutPair;
  /** Every worker has a core of its own, as on single-core machines. Null where cores cannot be assigned. */
  core_per_worker: ScaleOutPair | null;
}

/** Renders per hour, from the first acceptance to the last end: medians over the rounds. */
interface ScaleOutPair {
  one_worker_per_hour: number;
  two_workers_per_hour: number;
  /** Throughput of two workers divided by that of one: median over the rounds, and all values. */
  two_over_one: number;
  rounds: number[];
}

/**
 * Enough for the end to weigh little: there the last of two workers is alone, for half a render on average. With 12
 * renders that is a tenth of two workers' time, with 24 a twentieth.
 */
const BACKLOG = 24;
/** Renders before each backlog, so that graphs are loaded and inputs and face track are cached. */
const WARM_UP = 4;
/** One worker and two workers alternately, so that other load on the machine affects both. */
const ROUNDS = 3;

/**
 * How much faster two gpu-workers process a backlog of renders than one. On CPUs, two workers on two cores mostly share
 * them; with a core for each, the result shows whether the service around them scales.
 */
async function benchScaleOut(): Promise<ScaleOutFigures> {
  const root = path.join(REPOSITORY_ROOT, '.local', `scale-out-${process.pid}`);
  const stack = createStack({ root });
  try {
    await stack.up();
    const canAssignCores = platform() === 'linux' && availableParallelism() >= 2;
    const rounds = (plan: (count: number) => GpuWorkerPlan) => compare(root, plan);
    return {
      renders: BACKLOG,
      all_cores: await rounds((count) => ({ count })),
      core_per_worker: canAssignCores ? await rounds((count) => ({ count, cores: [0, 1] })) : null,
    };
  } finally {
    await stack.down();
    stack.erase();
  }
}

async function compare(root: string, plan: (count: number) => GpuWorkerPlan): Promise<ScaleOutPair> {
  const one: number[] = [];
  const two: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    one.push(await workOff(root, plan(1)));
    two.push(await workOff(root, plan(2)));
  }
  const rounds = two.map((perHour, i) => perHour / (one[i] ?? NaN));
  return {
    one_worker_per_hour: median(one),
    two_workers_per_hour: median(two),
    two_over_one: median(rounds),
    rounds,
  };
}

/** Renders per hour of the stack with these workers. */
async function workOff(root: string, gpuWorkers: GpuWorkerPlan): Promise<number> {
  const { count, cores } = gpuWorkers;
  const silent = (): void => undefined;
  const target = await openLocalTarget({ root, customers: 4, gpuWorkers, slowSeconds: 0, say: silent });
  try {
    const { signal } = new AbortController();
    const run = (renders: number): Promise<LoadTestReport> =>
      runLoadTest({ config: backlogOf(renders), target, signal, say: silent });
    await run(WARM_UP);
    const { renders, checks } = await run(BACKLOG);
    const failed = checks.filter(({ state }) => state === 'failed');
    if (failed.length > 0) throw new Error(`does not hold: ${failed.map(({ title }) => title).join(', ')}`);
    if (renders?.completed_per_hour == null) throw new Error('nothing was rendered');
    const workers = `${count} gpu-worker${count === 1 ? '' : 's'}${cores === undefined ? '' : ' on a core each'}`;
    console.error(`${workers}: ${Math.round(renders.completed_per_hour)} renders per hour`);
    return renders.completed_per_hour;
  } finally {
    await target.close();
  }
}

function backlogOf(count: number): LoadTestConfig {
  return {
    ...defaultConfig(),
    scenario: 'scale-out',
    streams: [{ name: 'renders', plan: { kind: 'at-once', count }, mix: { render: 1 }, announces: false }],
    duration: 1,
    warmUp: 0,
    drain: 1_200,
    outputSample: 2,
  };
}

main().catch((error: unknown) => {
  console.error(`bench:scale-out: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
