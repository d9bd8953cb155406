import { type ErrorBody, type ErrorCode } from '@lipsync/contract';
import { errorBody } from './service-error';
import { type EngineStatus, RECORD_STATES } from './states';

export interface EngineOutcome {
  readonly status: EngineStatus;
  readonly errorCode: ErrorCode | null;
}

export type RenderOutcome =
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
