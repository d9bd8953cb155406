import { conforms, type ErrorBody, isSuccess, type OperationId } from '@lipsync/contract';

/**
 * What became of a request.
 * - `success`: the answer of the contract
 * - `expected`: a refusal that the harness provoked and counts as right
 * - `limited`: 429; the service protects itself, the caller is to slow down
 * - `refused`: another 4xx
 * - `unavailable`: 5xx
 * - `transport`: no answer at all
 * - `out_of_contract`: an answer that the contract does not know
 */
export const OUTCOME_CLASSES = [
  'success',
  'expected',
  'limited',
  'refused',
  'unavailable',
  'transport',
  'out_of_contract',
] as const;
export type OutcomeClass = (typeof OUTCOME_CLASSES)[number];

export interface Outcome {
  readonly class: OutcomeClass;
  /** Null without an answer. */
  readonly status: number | null;
  /** `error.code` of the answer, or the name of the transport error (`timeout`, `ECONNRESET`). */
  readonly code: string | null;
  /** As the answer says; a lost answer may be asked for again. Null on success. */
  readonly retryable: boolean | null;
}

/** Classes that count as failures; a limit that is enforced is none. */
export const FAILURE_CLASSES: ReadonlySet<OutcomeClass> = new Set([
  'refused',
  'unavailable',
  'transport',
  'out_of_contract',
]);

export function transportOutcome(code: string): Outcome {
  return { class: 'transport', status: null, code, retryable: true };
}

/** Of an operation of the API. `expected` are codes that are right here. */
export function operationOutcome(
  operationId: OperationId,
  status: number,
  body: unknown,
  expected: readonly string[] = [],
): Outcome {
  if (isSuccess(operationId, status, body)) return { class: 'success', status, code: null, retryable: null };
  if (status < 400 || !conforms('ErrorResponse', body))
    return { class: 'out_of_contract', status, code: null, retryable: status >= 500 };
  const { code, retryable } = body.error satisfies ErrorBody;
  return { class: expected.includes(code) ? 'expected' : classOf(status), status, code, retryable };
}

/** Of bytes put to or fetched from the store, whose errors have no code that callers rely on. */
export function storeOutcome(status: number): Outcome {
  if (status >= 200 && status < 300) return { class: 'success', status, code: null, retryable: null };
  return { class: classOf(status), status, code: null, retryable: status >= 500 || status === 429 };
}

function classOf(status: number): OutcomeClass {
  if (status === 429) return 'limited';
  return status >= 500 ? 'unavailable' : 'refused';
}
