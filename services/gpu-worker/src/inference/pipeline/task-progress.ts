import { type InferenceStage } from '../protocol';

/** Says how far a task is, as one percentage that never falls over all its stages. */
export interface TaskProgress {
  loading(): void;
  /** `done` of `total` frames analysed. */
  analysed(done: number, total: number): void;
  /** `done` of `total` frames written to the encoder. */
  rendered(done: number, total: number): void;
  /** Every frame is written; the file is being finished. */
  encoding(): void;
}

/** Where the parts of a render end, in percent; what is left belongs to the upload. */
const LOADED = 2;
const ANALYSED = 25;
const RENDERED = 92;

/**
 * Percentages of a render, or of an analysis alone. A step is reported when it moves by a tenth of a percent or into
 * another stage; the receiver decides how much of that it writes down.
 */
export function createTaskProgress(
  kind: 'render' | 'analyze',
  report: (stage: InferenceStage, percent: number) => void,
): TaskProgress {
  const analysedPercent = kind === 'analyze' ? RENDERED : ANALYSED;
  let base = LOADED;
  let last = { stage: '', percent: -1 };

  const step = (stage: InferenceStage, exact: number): void => {
    const percent = Math.max(last.percent, Math.floor(exact * 10) / 10);
    if (stage === last.stage && percent === last.percent) return;
    last = { stage, percent };
    report(stage, percent);
  };
  const between = (from: number, to: number, done: number, total: number): number =>
    from + ((to - from) * Math.min(done, total)) / Math.max(total, 1);

  return {
    loading: () => step('loading_model', 0),
    analysed: (done, total) => {
      base = between(LOADED, analysedPercent, done, total);
      step('inferencing', base);
    },
    rendered: (done, total) => step('inferencing', between(base, RENDERED, done, total)),
    encoding: () => step('encoding', RENDERED),
  };
}
