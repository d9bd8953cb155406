import { availableParallelism, platform } from 'node:os';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '../../local-stack/layout';
import { type GpuWorkerPlan } from '../../local-stack/state';
import { CONFIG_DEFAULTS, type LoadTestConfig } from '../config';
import { type LoadTestReport } from '../report/report';
import { runLoadTest } from '../run-load-test';
import { openLocalTarget } from '../target/local-target';

export interface BacklogFigures {
  gpu_workers: number;
  renders: number;
  /** From the first acceptance to the last end. */
  completed_per_hour: number;
  work_per_output_second: number | null;
}

export interface ScaleOutFigures {
  /** Every worker may use every core: two share what one had to itself. */
  all_cores: ScaleOutPair;
  /** Every worker has a core of its own, as on machines of one core each. Null where cores cannot be assigned. */
  core_per_worker: ScaleOutPair | null;
}

export interface ScaleOutPair {
  one: BacklogFigures;
  two: BacklogFigures;
  /** Throughput of two workers over that of one, in the same run. */
  two_over_one: number;
}

/** Renders of one backlog: enough that the beginning and the end, when not all workers are busy, weigh little. */
const BACKLOG = 16;
/** Renders of every worker before the backlog: graphs are loaded, the sample is analysed. */
const WARM_UP = 4;

/**
 * How much faster two gpu-workers work off the same backlog of renders than one. Rendering on processors, two workers
 * on two cores mostly share them; with a core for each, what is seen is whether the service around them scales.
 */
export async function benchScaleOut(say: (line: string) => void): Promise<ScaleOutFigures> {
  const pair = async (cores: readonly number[] | undefined): Promise<ScaleOutPair> => {
    const plan = (count: number): GpuWorkerPlan => (cores === undefined ? { count } : { count, cores });
    const one = await workOff(plan(1), say);
    const two = await workOff(plan(2), say);
    return { one, two, two_over_one: two.completed_per_hour / one.completed_per_hour };
  };
  const canAssignCores = platform() === 'linux' && availableParallelism() >= 2;
  return { all_cores: await pair(undefined), core_per_worker: canAssignCores ? await pair([0, 1]) : null };
}

async function workOff(gpuWorkers: GpuWorkerPlan, say: (line: string) => void): Promise<BacklogFigures> {
  say(
    `${gpuWorkers.count} gpu-worker${gpuWorkers.count === 1 ? '' : 's'}${gpuWorkers.cores === undefined ? '' : ', each on a core of its own'}`,
  );
  const target = await openLocalTarget({ customers: 4, gpuWorkers, slowReceiverMs: 0, say });
  try {
    const run = (count: number): Promise<LoadTestReport> =>
      runLoadTest({ config: backlogOf(count), target, signal: new AbortController().signal, say });
    await run(WARM_UP);
    const { renders, checks } = await run(BACKLOG);
    const failed = checks.filter(({ state }) => state === 'failed');
    if (failed.length > 0) throw new Error(`does not hold: ${failed.map(({ title }) => title).join(', ')}`);
    if (renders?.completed_per_hour == null) throw new Error('nothing was rendered');
    return {
      gpu_workers: gpuWorkers.count,
      renders: renders.accepted,
      completed_per_hour: renders.completed_per_hour,
      work_per_output_second: renders.work_per_output_second,
    };
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
