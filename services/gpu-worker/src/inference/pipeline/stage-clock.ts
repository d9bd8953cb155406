import { type StageTimings } from '../../protocol/messages';
import { TIMED_STAGES, type TimedStage } from '../../protocol/timed-stages';

/** Adds up how a job's time is spent, and records the process's peak memory while it ran. */
export interface StageClock {
  /** Adds the time until `work` settles to `stage`. */
  during<T>(stage: TimedStage, work: () => Promise<T>): Promise<T>;
  /** The same for synchronous work. */
  sync<T>(stage: TimedStage, work: () => T): T;
  add(stage: TimedStage, ms: number): void;
  /** Samples the memory in use; called once per batch. */
  sampleMemory(): void;
  timings(): StageTimings;
}

export function createStageClock(): StageClock {
  const started = performance.now();
  const spent = new Map<TimedStage, number>();
  let peakRss = 0;
  const sampleMemory = (): void => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  };
  const add = (stage: TimedStage, ms: number): void => {
    spent.set(stage, (spent.get(stage) ?? 0) + ms);
  };

  return {
    add,
    sampleMemory,
    during: async (stage, work) => {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    sync: (stage, work) => {
      const from = performance.now();
      try {
        return work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    timings: () => {
      sampleMemory();
      const stages = TIMED_STAGES.map((stage) => [`${stage}Ms`, Math.round(spent.get(stage) ?? 0)] as const);
      return {
        totalMs: Math.round(performance.now() - started),
        // Object.fromEntries loses the key type; the keys are all the stages by construction.
        ...(Object.fromEntries(stages) as Record<`${TimedStage}Ms`, number>),
        peakRssBytes: peakRss,
      };
    },
  };
}
