import { conforms, type ErrorBody, isSuccess, type OperationId } from '@lipsync/contract';

/**
 * The outcome of a request.
 * - `success`: the contract's response
 * - `expected`: a refusal that the harness provoked and counts as correct
 * - `limited`: 429; the service protects itself and asks the caller to slow down
 * - `refused`: another 4xx
 * - `unavailable`: 5xx
 * - `transport`: no response at all
 * - `out_of_contract`: a response that the contract does not define
 */
type OutcomeClass =
  'success' | 'expected' | 'limited' | 'refused' | 'unavailable' | 'transport' | 'out_of_contract';

export interface Outcome {
  readonly class: OutcomeClass;
  /** Null without a response. */
  readonly status: number | null;
  /** `error.code` of the response, or the name of the transport error (`timeout`, `ECONNRESET`). */
  readonly code: string | null;
  /** As the response says; a request without a response may be repeated. Null on success. */
  readonly retryable: boolean | null;
}

/** Classes that count as failures; an enforced limit does not. */
export const FAILURE_CLASSES: ReadonlySet<OutcomeClass> = new Set([
  'refused',
  'unavailable',
  'transport',
  'out_of_contract',
]);

export function transportOutcome(code: string): Outcome {
  return { class: 'transport', status: null, code, retryable: true };
}

/** The outcome of an API operation. The codes in `expected` count as correct here. */
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

/** The outcome of a PUT to or a GET from the store, whose error codes callers do not rely on. */
export function storeOutcome(status: number): Outcome {
  if (status >= 200 && status < 300) return { class: 'success', status, code: null, retryable: null };
  return { class: classOf(status), status, code: null, retryable: status >= 500 || status === 429 };
}

function classOf(status: number): OutcomeClass {
  if (status === 429) return 'limited';
  return status >= 500 ? 'unavailable' : 'refused';
}

/** One kind of error response and its count. */
export interface ErrorCount {
  readonly operation: string;
  readonly outcome: Outcome;
  readonly count: number;
}

export interface AnswerCounts {
  readonly total: number;
  readonly failed: number;
  /** In descending order of count. */
  readonly errors: readonly ErrorCount[];
}

/** Counts the outcomes of requests, in memory that depends only on the number of different errors. */
export function createAnswerTally() {
  const errors = new Map<string, ErrorCount>();
  let total = 0;
  let failed = 0;
  return {
    request: ({ operation, outcome }: { readonly operation: string; readonly outcome: Outcome }): void => {
      total++;
      if (FAILURE_CLASSES.has(outcome.class)) failed++;
      if (outcome.class === 'success') return;
      const key = JSON.stringify([operation, outcome]);
      errors.set(key, { operation, outcome, count: (errors.get(key)?.count ?? 0) + 1 });
    },
    counts: (): AnswerCounts => ({
      total,
      failed,
      errors: [...errors.values()].sort((a, b) => b.count - a.count),
    }),
  };
}

export type AnswerTally = ReturnType<typeof createAnswerTally>;
