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
  /** Those of them that were spent on a GPU. */
  gpuMs(): number;
  /** How often the face detector ran since the task began. */
  detectorRuns(): number;
  /** Whenever software took a card's place in decoding or encoding since the task began. */
  replacedCodecs(): readonly ReplacedCodec[];
}

/** A backstop for one decoder or encoder; the limit of the job itself is the supervisor's. */
export const MEDIA_DEADLINE_MS = 2 * 60 * 60 * 1000;

/** What results say about a GPU: null where none was used. */
export function gpuInferenceMs(job: Job): number | null {
  const ms = job.gpuMs();
  return ms === 0 ? null : ms;
}
