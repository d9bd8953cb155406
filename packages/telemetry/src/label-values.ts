import { ENGINES, ERROR_CATALOGUE, type ErrorCode, OPERATIONS, type OperationId } from '@lipsync/contract';

/** Where jobs wait; the words of packages/db, which lies beside this package. */
export const QUEUES = ['media', 'preparation', ...ENGINES] as const;

/** What a request was routed to; `other` is everything that is no operation, or was refused before it was routed. */
export const OPERATION_LABELS: readonly (OperationId | 'other')[] = [
  ...OPERATIONS.map(({ operationId }) => operationId),
  'other',
];

/** The operations that know idempotency keys. */
export const REPLAYABLE = ['create_render', 'create_preparation'] as const satisfies readonly OperationId[];

export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

/** A label whose values are not listed: HTTP statuses that this service answers with, versions. Never a caller's text. */
export const ANY: readonly string[] = [];

/** How a claimed job ended. */
export const JOB_OUTCOMES = [
  'completed',
  'requeued',
  'failed',
  'released',
  'dropped',
  'lost',
  'unrecorded',
] as const;

/** Loops of the media-worker, of every worker (its row), and of the dispatcher. */
export const LOOPS = ['admission', 'reconciliation', 'purging', 'worker_row', 'dispatch'] as const;

/** What an attempt came to: the receiver took it, our own fault put it off, or the class of failure. */
export const ATTEMPT_RESULTS = [
  'delivered',
  'deferred',
  'dns_error',
  'connection_failed',
  'tls_error',
  'timeout',
  'address_not_allowed',
  'redirect',
  'http_error',
] as const;

/**
 * Where a job's time goes: `fetch` and `upload` are the supervisor's, the others what the clock of the inference process
 * tells apart. The gpu-worker, which lies above this package, does not compile where they differ.
 */
export const STAGES = [
  'fetch',
  'load',
  'analyse',
  'features',
  'audio',
  'decode',
  'crop',
  'infer',
  'paste',
  'encode',
  'quality',
  'upload',
] as const;

/** What a stage was passed for: the engine of a render, or a preparation, which belongs to no engine. */
export const STAGE_OWNERS = [...ENGINES, 'preparation'] as const;
