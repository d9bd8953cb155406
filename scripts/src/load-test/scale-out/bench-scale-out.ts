import { availableParallelism, platform } from 'node:os';
import path from 'node:path';
import { median } from '../../bench/median';
import { REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '../../local-stack/layout';
import { createStack } from '../../local-stack/stack';
import { type GpuWorkerPlan } from '../../local-stack/state';
import { CONFIG_DEFAULTS, type LoadTestConfig } from '../config';
import { type LoadTestReport } from '../report/report';
import { runLoadTest } from '../run-load-test';
import { openLocalTarget } from '../target/local-target';

export interface ScaleOutFigures {
  /** Renders of each backlog. */
  renders: number;
  /** Every worker may use every core: two share what one had to itself. */
  all_cores: ScaleOutPair;
  /** Every worker has a core of its own, as on machines of one core each. Null where cores cannot be assigned. */
  core_per_worker: ScaleOutPair | null;
}

/** Renders per hour, from the first acceptance to the last end: the medians of the rounds. */
export interface ScaleOutPair {
  one_worker_per_hour: number;
  two_workers_per_hour: number;
  /** Throughput of two workers over that of one: the median of the rounds, and all of them. */
  two_over_one: number;
  rounds: number[];
}

/**
 * Enough that the end weighs little: there the last of two workers is alone, for half a render on average. Of 12 renders
 * that is a tenth of the time of two workers, of 24 a twentieth.
 */
const BACKLOG = 24;
/** Renders before each backlog: graphs are loaded, inputs and face track are at hand. */
const WARM_UP = 4;
/** One and two workers in turn: what else the machine does meanwhile meets both. */
const ROUNDS = 3;

/**
 * How much faster two gpu-workers work off a backlog of renders than one. Rendering on processors, two workers on two
 * cores mostly share them; with a core for each, what is seen is whether the service around them scales.
 */
export async function benchScaleOut(say: (line: string) => void): Promise<ScaleOutFigures> {
  const root = path.join(REPOSITORY_ROOT, '.local', `scale-out-${process.pid}`);
  const stack = createStack({ root });
  try {
    await stack.up();
    const canAssignCores = platform() === 'linux' && availableParallelism() >= 2;
    const rounds = (plan: (count: number) => GpuWorkerPlan) => compare(root, plan, say);
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

async function compare(
  root: string,
  plan: (count: number) => GpuWorkerPlan,
  say: (line: string) => void,
): Promise<ScaleOutPair> {
  const one: number[] = [];
  const two: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    one.push(await workOff(root, plan(1), say));
    two.push(await workOff(root, plan(2), say));
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
async function workOff(
  root: string,
  gpuWorkers: GpuWorkerPlan,
  say: (line: string) => void,
): Promise<number> {
  const { count, cores } = gpuWorkers;
  const target = await openLocalTarget({
    root,
    customers: 4,
    gpuWorkers,
    slowReceiverMs: 0,
    say: () => undefined,
  });
  try {
    const run = (renders: number): Promise<LoadTestReport> =>
      runLoadTest({
        config: backlogOf(renders),
        target,
        signal: new AbortController().signal,
        say: () => undefined,
      });
    await run(WARM_UP);
    const { renders, checks } = await run(BACKLOG);
    const failed = checks.filter(({ state }) => state === 'failed');
    if (failed.length > 0) throw new Error(`does not hold: ${failed.map(({ title }) => title).join(', ')}`);
    if (renders?.completed_per_hour == null) throw new Error('nothing was rendered');
    const workers = `${count} gpu-worker${count === 1 ? '' : 's'}${cores === undefined ? '' : ' on a core each'}`;
    say(`${workers}: ${Math.round(renders.completed_per_hour)} renders per hour`);
    return renders.completed_per_hour;
  } finally {
    await target.close();
  }
}

function backlogOf(count: number): LoadTestConfig {
  return {
    ...CONFIG_DEFAULTS,
    scenario: 'scale-out',
    streams: [{ name: 'renders', plan: { kind: 'at-once', count }, mix: { render: 1 }, announces: false }],
    durationSeconds: 1,
    warmUpSeconds: 0,
    drainSeconds: 1_200,
    videoFile: SAMPLE_VIDEO,
    audioFile: SAMPLE_AUDIO,
    outputSample: 2,
  };
}
