import { ENGINES, ERROR_CATALOGUE, type ErrorCode, type OperationId, OPERATIONS } from '@lipsync/contract';

export const SERVICES = ['api', 'media-worker', 'gpu-worker', 'webhook-dispatcher'] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The values that each label can have. Writing another value does not compile. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly services: readonly ServiceName[];
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[];
  /** Reports 0 for every combination of labels from the start, so that the first increase is visible as one. */
  readonly fromZero?: true;
}

/** The names of the queues, as in packages/db, which this package must not import. */
export const QUEUES = ['media', 'preparation', ...ENGINES] as const;

/**
 * The operation that a request was routed to. `other` is everything that is not an operation, or was refused before
 * routing.
 */
export const OPERATION_LABELS: readonly (OperationId | 'other')[] = [
  ...OPERATIONS.map(({ operationId }) => operationId),
  'other',
];

/** The operations that support idempotency keys. */
export const REPLAYABLE = ['create_render', 'create_preparation'] as const satisfies readonly OperationId[];

export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

/** A label whose values are not listed: HTTP statuses of this service, versions. Never a caller's text. */
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
export const LOOPS = ['enqueueing', 'reconciliation', 'purging', 'worker_row', 'dispatch'] as const;

/** The result of an attempt: accepted by the receiver, deferred through our own fault, or the class of the failure. */
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
 * The stages of a job. `fetch` and `upload` are measured by the supervisor, the others by the clock of the inference
 * process. The gpu-worker, which lies above this package, does not compile if its stages differ.
 */
export const STAGES = [
  'fetch',
  'load',
  'analyze',
  'hear',
  'exemplars',
  'features',
  'audio',
  'decode',
  'crop',
  'infer',
  'paste',
  'encode',
  'finish',
  'quality',
  'sign',
  'upload',
] as const;

/** What a slot's time goes into: the graphs of engines, what these wait for in a job, or no job. */
export const SLOT_DOINGS = [
  'graphs',
  'files',
  'loading',
  'analysis',
  'decoder',
  'processor',
  'encoder',
  'other',
  'idle',
] as const;

/** Upper bounds of histograms. */
export const SECONDS = {
  request: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  wait: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600],
  job: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600, 1800, 3600],
  stage: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800],
  attempt: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  lag: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900],
  /** Whole frames at 25 frames per second, as far as lags are searched. */
  syncLag: [-0.16, -0.12, -0.08, -0.04, 0, 0.04, 0.08, 0.12, 0.16],
};

/** Who a stage is attributed to: the engine of a render, or a preparation, which belongs to no engine. */
export const STAGE_OWNERS = [...ENGINES, 'preparation'] as const;
