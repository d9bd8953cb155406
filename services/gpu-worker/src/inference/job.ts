import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import {
  type InferenceStage,
  type StageTimings,
  type TensorBytes,
  TIMED_STAGES,
  type TimedStage,
} from '../protocol/messages';
import { type Models } from './models';

/** What the steps of one task share. */
export interface Job {
  readonly binaries: Binaries;
  readonly models: Models;
  readonly clock: StageClock;
  readonly progress: TaskProgress;
  readonly signal: AbortSignal;
  /** Milliseconds spent inside graphs since the task began. */
  inferMs(): number;
  /** The part of `inferMs` that was spent on a GPU; null when none was used. */
  gpuInferenceMs(): number | null;
  /** Size of the tensors that graphs were given and gave since the task began. */
  tensorBytes(): TensorBytes;
  /** How often the face detector ran since the task began. */
  detectorRuns(): number;
  /** Every replacement of a GPU codec by software since the task began. */
  replacedCodecs(): readonly ReplacedCodec[];
}

/** A backstop for one decoder or encoder; the supervisor enforces the job's own limit. */
export const MEDIA_DEADLINE_MS = 2 * 60 * 60 * 1000;

export type StageClock = ReturnType<typeof createStageClock>;

/** Adds up how a job's time is spent, and records the process's peak memory while it ran. */
export function createStageClock() {
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
    /** Samples the memory in use; called once per batch. */
    sampleMemory,
    /** Adds the time until `work` settles to `stage`. */
    async during<T>(stage: TimedStage, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    /** The same for synchronous work. */
    sync<T>(stage: TimedStage, work: () => T): T {
      const from = performance.now();
      try {
        return work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    timings(): StageTimings {
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

export type TaskProgress = ReturnType<typeof createTaskProgress>;

/** Percentage of a render at which all frames are written; the rest is for finishing the file and the upload. */
const RENDERED = 92;
/**
 * Minimum milliseconds between two reports within a stage. The receiver stores one a second, and reporting a frame
 * costs more than pasting it.
 */
const STEP_MS = 250;

/**
 * Reports the progress of a task. Two scales: `preparing` counts the work ahead of a render from 0 to 100, all other stages the render itself. Within a
 * stage the percentage never falls. Reports only steps that are worth seeing: at least a tenth of a percent, at most
 * four times a second.
 * @param now milliseconds
 */
export function createTaskProgress(
  report: (stage: InferenceStage, percent: number) => void,
  now: () => number = () => performance.now(),
) {
  let last: { stage: InferenceStage; percent: number; atMs: number } | undefined;

  const step = (stage: InferenceStage, exact: number): void => {
    const percent = Math.floor(exact * 10) / 10;
    if (stage === last?.stage && percent <= last.percent) return;
    const atMs = now();
    if (stage === last?.stage && atMs < last.atMs + STEP_MS) return;
    last = { stage, percent, atMs };
    report(stage, percent);
  };
  const upToOne = (part: number): number => Math.min(1, Math.max(0, part));

  return {
    loading: () => step('loading_model', 0),
    /** `part`: share of a preparation that is done, 0 to 1. */
    preparing: (part: number) => step('preparing', 100 * upToOne(part)),
    /** `done` of `total` frames are written to the encoder. */
    rendered: (done: number, total: number) =>
      step('inferencing', RENDERED * upToOne(done / Math.max(total, 1))),
    /** Every frame is written; the file is being finished. */
    encoding: () => step('encoding', RENDERED),
  };
}
