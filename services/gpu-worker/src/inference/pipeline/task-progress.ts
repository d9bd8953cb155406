import { type InferenceStage } from '../../protocol/messages';

/** Reports the progress of a task. */
export interface TaskProgress {
  loading: () => void;
  /** Share of a preparation that is done, 0 to 1. */
  preparing: (part: number) => void;
  /** `done` of `total` frames written to the encoder. */
  rendered: (done: number, total: number) => void;
  /** Every frame is written; the file is being finished. */
  encoding: () => void;
}

/** Percentage of a render at which all frames are written; the rest is for finishing the file and the upload. */
const RENDERED = 92;
/**
 * Minimum milliseconds between two reports within a stage. The receiver stores one a second, and reporting a frame
 * costs more than pasting it.
 */
const STEP_MS = 250;

/**
 * Two scales: `preparing` counts the work ahead of a render from 0 to 100, all other stages the render itself. Within a
 * stage the percentage never falls. Reports only steps that are worth seeing: at least a tenth of a percent, at most
 * four times a second.
 * @param now milliseconds
 */
export function createTaskProgress(
  report: (stage: InferenceStage, percent: number) => void,
  now: () => number = () => performance.now(),
): TaskProgress {
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
    preparing: (part) => step('preparing', 100 * upToOne(part)),
    rendered: (done, total) => step('inferencing', RENDERED * upToOne(done / Math.max(total, 1))),
    encoding: () => step('encoding', RENDERED),
  };
}
