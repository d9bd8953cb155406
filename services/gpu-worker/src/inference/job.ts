import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type InferenceStage, type TensorBytes } from '../protocol/messages';
import { type Models } from './models';
import { type KeptMouths } from './pipeline/kept-mouths';
import { type StageClock } from './stage-clock';

/** What the steps of one task share. */
export interface Job {
  readonly binaries: Binaries;
  readonly models: Models;
  readonly keptMouths: KeptMouths;
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
