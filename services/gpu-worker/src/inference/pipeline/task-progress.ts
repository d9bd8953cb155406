import { type InferenceStage } from '../protocol';

/** Says how far a task is. */
export interface TaskProgress {
  loading: () => void;
  /** `done` of about `total` frames analysed. */
  analysed: (done: number, total: number) => void;
  /** `done` of `total` frames written to the encoder. */
  rendered: (done: number, total: number) => void;
  /** Every frame is written; the file is being finished. */
  encoding: () => void;
}

/** Where writing the frames ends on the scale of a render; what is left belongs to finishing and upload. */
const RENDERED = 92;

/**
 * Two scales: `preparing` counts the analysis alone from 0 to 100, all other stages the render. Within a stage percent
 * never falls; steps of less than a tenth are not reported.
 */
export function createTaskProgress(report: (stage: InferenceStage, percent: number) => void): TaskProgress {
  let last: { stage: InferenceStage; percent: number } | undefined;

  const step = (stage: InferenceStage, exact: number): void => {
    const percent = Math.floor(exact * 10) / 10;
    if (stage === last?.stage && percent <= last.percent) return;
    last = { stage, percent };
    report(stage, percent);
  };
  const part = (done: number, total: number): number => Math.min(1, done / Math.max(total, 1));

  return {
    loading: () => step('loading_model', 0),
    analysed: (done, total) => step('preparing', 100 * part(done, total)),
    rendered: (done, total) => step('inferencing', RENDERED * part(done, total)),
    encoding: () => step('encoding', RENDERED),
  };
}
