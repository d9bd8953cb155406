import { type StageTimings, TIMED_STAGES, type TimedStage, type WallTime } from '../protocol/messages';

export type StageClock = ReturnType<typeof createStageClock>;

/** Totals of the session thread since its start, in milliseconds. */
export interface GraphTime {
  /** Inside the runtime. */
  readonly runMs: () => number;
  /** From handing a run to the thread until its answer is taken, at least `runMs`. */
  readonly occupiedMs: () => number;
}

/**
 * While no graph runs, the first of these stages that is at work is what the graphs wait for: what keeps the main thread
 * busy, then what a batch is made of, the sound first because all frames wait for it, then what takes frames away, then
 * what happens before the first frame.
 */
const NEXT_TO_GRAPHS: readonly TimedStage[] = [
  ...(['crop', 'paste', 'quality', 'audio', 'decode', 'encode', 'finish'] as const),
  ...(['load', 'exemplars', 'hear', 'features', 'analyze'] as const),
];

/** Adds up how a job's time is spent, and records the process's peak memory while it ran. */
export function createStageClock(graphs: GraphTime = { runMs: () => 0, occupiedMs: () => 0 }) {
  const started = performance.now();
  const before = { runMs: graphs.runMs(), occupiedMs: graphs.occupiedMs() };
  const spent = new Map<TimedStage, number>();
  const atWork = new Map<TimedStage, number>();
  const waited = new Map<keyof WallTime, number>();
  let seen = { at: started, occupied: before.occupiedMs };
  let peakRss = 0;
  const sampleMemory = (): void => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  };
  const add = (stage: TimedStage, ms: number): void => {
    spent.set(stage, (spent.get(stage) ?? 0) + ms);
  };

  /** Attributes the time since the last change of what is at work. */
  const settle = (): void => {
    const now = { at: performance.now(), occupied: graphs.occupiedMs() };
    const idle = now.at - seen.at - (now.occupied - seen.occupied);
    const stage = NEXT_TO_GRAPHS.find((each) => (atWork.get(each) ?? 0) > 0) ?? 'other';
    waited.set(stage, (waited.get(stage) ?? 0) + idle);
    seen = now;
  };
  const begin = (stage: TimedStage): number => {
    settle();
    atWork.set(stage, (atWork.get(stage) ?? 0) + 1);
    return performance.now();
  };
  const end = (stage: TimedStage, from: number): void => {
    settle();
    atWork.set(stage, (atWork.get(stage) ?? 0) - 1);
    add(stage, performance.now() - from);
  };

  return {
    add,
    /** Samples the memory in use; called once per batch. */
    sampleMemory,
    /** Adds the time until `work` settles to `stage`. */
    async during<T>(stage: TimedStage, work: () => Promise<T>): Promise<T> {
      const from = begin(stage);
      try {
        return await work();
      } finally {
        end(stage, from);
      }
    },
    /** The same for synchronous work. */
    sync<T>(stage: TimedStage, work: () => T): T {
      const from = begin(stage);
      try {
        return work();
      } finally {
        end(stage, from);
      }
    },
    timings(): StageTimings {
      sampleMemory();
      settle();
      const graphsMs = graphs.runMs() - before.runMs;
      const wall: WallTime = {
        graphs: Math.round(graphsMs),
        handover: Math.round(graphs.occupiedMs() - before.occupiedMs - graphsMs),
        other: 0,
        ...Object.fromEntries([...waited].map(([part, ms]) => [part, Math.round(ms)])),
      };
      const stages = TIMED_STAGES.map((stage) => [`${stage}Ms`, Math.round(spent.get(stage) ?? 0)] as const);
      return {
        totalMs: Math.round(performance.now() - started),
        // Object.fromEntries loses the key type; the keys are all the stages by construction.
        ...(Object.fromEntries(stages) as Record<`${TimedStage}Ms`, number>),
        wall,
        peakRssBytes: peakRss,
      };
    },
  };
}
