import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type Models } from './models';
import { type StageClock } from './pipeline/stage-clock';
import { type TaskProgress } from './pipeline/task-progress';

/** What the steps of one task share. */
export interface Job {
  readonly binaries: Binaries;
  readonly models: Models;
  readonly clock: StageClock;
  readonly progress: TaskProgress;
  readonly signal: AbortSignal;
  /** Milliseconds spent inside graphs since the task began. */
  inferMs(): number;
  /** The part of `inferMs` that was spent on a GPU. */
  gpuMs(): number;
  /** How often the face detector ran since the task began. */
  detectorRuns(): number;
  /** Every replacement of a GPU codec by software since the task began. */
  replacedCodecs(): readonly ReplacedCodec[];
}

/** A backstop for one decoder or encoder; the supervisor enforces the job's own limit. */
export const MEDIA_DEADLINE_MS = 2 * 60 * 60 * 1000;

/** The GPU time that results report: null when no GPU was used. */
export function gpuInferenceMs(job: Job): number | null {
  const ms = job.gpuMs();
  return ms === 0 ? null : ms;
}
