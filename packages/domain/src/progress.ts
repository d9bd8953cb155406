import { type ErrorBody, type ErrorCode } from '@lipsync/contract';
import { errorBody } from './errors';
import {
  type EngineStatus,
  type PreparationStage,
  type PreparationWorkStage,
  RECORD_STATES,
  type RenderStage,
  type RenderWorkStage,
} from './states';

/** Where each stage begins and ends on the scale of 0 to 100. Only completed reaches 100. */
type Weights<Stage extends string> = Readonly<Record<Stage, readonly [from: number, to: number]>>;

const RENDER_WEIGHTS: Weights<RenderWorkStage> = {
  fetching_inputs: [0, 8],
  validating_inputs: [8, 10],
  preparing: [10, 25],
  rendering: [25, 95],
  finalizing: [95, 99],
};
const PREPARATION_WEIGHTS: Weights<PreparationWorkStage> = {
  fetching_inputs: [0, 8],
  validating_inputs: [8, 10],
  analyzing: [10, 95],
  finalizing: [95, 99],
};

interface EngineProgress {
  readonly status: EngineStatus;
  /** 0 to 100. */
  readonly progress: number;
}

interface RenderProgress {
  readonly stage: RenderStage;
  /** How much of the inputs has been fetched, 0 to 1. */
  readonly fetchFraction?: number;
  /** How much of the video has been analyzed, 0 to 1. */
  readonly prepareFraction?: number;
  readonly engines: readonly EngineProgress[];
}

/**
 * The progress of a render in percent, for its present stage. An internal retry moves the stage back, so a caller that
 * stores the value must keep the greater one. Failed and cancelled renders keep the stored value: they give 0 here.
 */
export function renderProgress(render: RenderProgress): number {
  switch (render.stage) {
    case 'fetching_inputs':
      return along(RENDER_WEIGHTS.fetching_inputs, render.fetchFraction ?? 0);
    case 'preparing':
      return along(RENDER_WEIGHTS.preparing, render.prepareFraction ?? 0);
    case 'rendering':
      return along(RENDER_WEIGHTS.rendering, renderedFraction(render.engines));
    case 'validating_inputs':
    case 'finalizing':
      return RENDER_WEIGHTS[render.stage][0];
    case 'completed':
      return 100;
    case 'queued':
    case 'failed':
    case 'cancelled':
      return 0;
  }
}

/**
 * The progress of a preparation in percent.
 * @param fraction how much of the stage is done, 0 to 1
 */
export function preparationProgress(stage: PreparationStage, fraction = 0): number {
  switch (stage) {
    case 'fetching_inputs':
    case 'validating_inputs':
    case 'analyzing':
    case 'finalizing':
      return along(PREPARATION_WEIGHTS[stage], fraction);
    case 'completed':
      return 100;
    case 'queued':
    case 'failed':
    case 'cancelled':
      return 0;
  }
}

/** The mean over the engines. A terminal engine counts as done, whatever its outcome. */
function renderedFraction(engines: readonly EngineProgress[]): number {
  if (engines.length === 0) return 0;
  const done = engines.map(({ status, progress }) => (RECORD_STATES.isTerminal(status) ? 1 : progress / 100));
  return done.reduce((sum, fraction) => sum + clampFraction(fraction), 0) / engines.length;
}

function clampFraction(fraction: number): number {
  return Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0;
}

/** To a hundredth, because callers show it: 45.7, not 45.699999999999996. */
function along([from, to]: readonly [number, number], fraction: number): number {
  return Math.round(100 * (from + (to - from) * clampFraction(fraction))) / 100;
}

interface EngineOutcome {
  readonly status: EngineStatus;
  readonly errorCode: ErrorCode | null;
}

type RenderOutcome =
  { readonly status: 'completed' } | { readonly status: 'failed'; readonly errorCode: ErrorCode };

/**
 * The outcome of a render, or null while an engine still works. A render is completed if at least one engine completed,
 * because the customer can use that result. A failed render has the code that all engines agree on, or
 * all_engines_failed.
 */
export function renderOutcome(engines: readonly EngineOutcome[]): RenderOutcome | null {
  if (!engines.every(({ status }) => RECORD_STATES.isTerminal(status))) return null;
  if (engines.some(({ status }) => status === 'completed')) return { status: 'completed' };
  const codes = new Set(engines.map(({ errorCode }) => errorCode ?? 'internal_error'));
  const [only, ...others] = codes;
  return {
    status: 'failed',
    errorCode: others.length > 0 || only === undefined ? 'all_engines_failed' : only,
  };
}

/**
 * The error of a failed render: the one that its engines agree on, or all_engines_failed, which is retryable if the
 * error of any engine is.
 */
export function renderError(code: ErrorCode, engineErrors: readonly ErrorBody[]): ErrorBody {
  if (code !== 'all_engines_failed')
    return engineErrors.find((error) => error.code === code) ?? errorBody(code);
  return { ...errorBody(code), retryable: engineErrors.some(({ retryable }) => retryable) };
}
