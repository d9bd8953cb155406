import {
  ANY,
  ATTEMPT_RESULTS,
  ERROR_CODES,
  JOB_OUTCOMES,
  LOOPS,
  type MetricDefinition,
  OPERATION_LABELS,
  QUEUES,
  REPLAYABLE,
  SECONDS,
  SERVICES,
} from './metric-definition';
import { RENDERING_METRICS } from './rendering-metrics';

/**
 * Every metric of every service, by its name without the prefix `lipsync_`. A test checks docs/metrics.md against this.
 */
export const METRICS = {
  build_info: {
    type: 'gauge',
    help: 'Always 1; the labels identify the running version.',
    labels: { component: SERVICES, version: ANY },
    services: SERVICES,
  },

  http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the request line to the end of the response, by operation and HTTP status; 499: the caller hung up.',
    labels: { operation: OPERATION_LABELS, status: ANY },
    services: ['api'],
    buckets: SECONDS.request,
  },
  http_errors_total: {
    type: 'counter',
    help: 'Error responses, by error.code of the contract.',
    labels: { operation: OPERATION_LABELS, code: ERROR_CODES },
    services: ['api'],
  },
  http_connections_refused_total: {
    type: 'counter',
    help: 'Connections that were closed at once because CONNECTIONS_MAX were open.',
    labels: {},
    services: ['api'],
    fromZero: true,
  },
  idempotent_replays_total: {
    type: 'counter',
    help: 'Requests that repeated an idempotency key and were answered with the resource of the first request.',
    labels: { operation: REPLAYABLE },
    services: ['api'],
    fromZero: true,
  },
  rate_limit_decisions_total: {
    type: 'counter',
    help: 'Rate limiter decisions; unavailable: Redis did not answer and everything is allowed.',
    labels: {
      limit: ['reads', 'writes', 'failed_auth'],
      decision: ['allowed', 'refused', 'unavailable'],
    },
    services: ['api'],
    fromZero: true,
  },

  queue_wait_seconds: {
    type: 'histogram',
    help: 'Time from when a job became ready to run until its claim.',
    labels: { queue: QUEUES },
    services: ['media-worker', 'gpu-worker'],
    buckets: SECONDS.wait,
  },
  jobs_total: {
    type: 'counter',
    help: 'Claims that ended, by outcome; only completed and failed end the job.',
    labels: { queue: QUEUES, outcome: JOB_OUTCOMES },
    services: ['media-worker', 'gpu-worker'],
  },
  job_duration_seconds: {
    type: 'histogram',
    help: 'Time from the claim of a job until its slot is free.',
    labels: { queue: QUEUES, outcome: JOB_OUTCOMES },
    services: ['media-worker', 'gpu-worker'],
    buckets: SECONDS.job,
  },
  slots: {
    type: 'gauge',
    help: 'Jobs of this queue that this process runs concurrently; a gpu-worker shares the same slots among its queues.',
    labels: { queue: QUEUES },
    services: ['media-worker', 'gpu-worker'],
  },
  slots_busy: {
    type: 'gauge',
    help: 'Slots of this process that are working on a job.',
    labels: {},
    services: ['media-worker', 'gpu-worker'],
  },

  loop_turns_total: {
    type: 'counter',
    help: 'Turns of the periodic loops of a process.',
    labels: { loop: LOOPS, outcome: ['completed', 'failed'] },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },
  loop_last_turn_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last turn of this loop ended, completed or failed, in seconds since the epoch.',
    labels: { loop: LOOPS },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },
  loop_pause_seconds: {
    type: 'gauge',
    help: 'Pause of this loop between two turns; a loop that is much later than this hangs.',
    labels: { loop: LOOPS },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },

  queue_jobs: {
    type: 'gauge',
    help: 'Unfinished jobs of the whole system. Every media-worker reports the same value: take the maximum.',
    labels: { queue: QUEUES, state: ['blocked', 'waiting', 'enqueued', 'running'] },
    services: ['media-worker'],
  },
  queue_oldest_seconds: {
    type: 'gauge',
    help: 'How long the oldest waiting job has been ready to run, of the whole system; 0: none waits. Jobs held back by their customer’s own running-jobs cap do not count while a worker serves the queue.',
    labels: { queue: QUEUES },
    services: ['media-worker'],
  },
  live_slots: {
    type: 'gauge',
    help: 'Slots of all live workers of the whole system.',
    labels: { queue: QUEUES },
    services: ['media-worker'],
  },
  unserved_deadline_seconds: {
    type: 'gauge',
    help: 'How long a job may wait while no worker serves its queue, before it fails (UNSERVED_DEADLINE_SECONDS).',
    labels: {},
    services: ['media-worker'],
  },
  webhook_backlog: {
    type: 'gauge',
    help: 'Unfinished deliveries of the whole system: due now (including attempts in progress), or scheduled for later. Those of suspended customers do not count.',
    labels: { state: ['due', 'scheduled'] },
    services: ['media-worker'],
  },
  webhook_oldest_due_seconds: {
    type: 'gauge',
    help: 'How long the oldest delivery that a dispatcher may take now has been due, of the whole system; 0: there is none. Attempts in progress and deliveries at the cap of their origin or customer do not count, nor do those of suspended customers.',
    labels: {},
    services: ['media-worker'],
  },
  reconciler_actions_total: {
    type: 'counter',
    help: 'Repairs by this process: messages that Redis lost (forgotten), messages to queues that no worker serves anymore (unserved), expired leases, exhausted attempts (given_up), deadlines, expired uploads.',
    labels: { action: ['forgotten', 'unserved', 'expired_lease', 'given_up', 'deadline', 'expired_upload'] },
    services: ['media-worker'],
    fromZero: true,
  },
  purged_total: {
    type: 'counter',
    help: 'Expired data that this process deleted: records whose bytes are gone, unused features, rows.',
    labels: { kind: ['render', 'preparation', 'upload', 'asset', 'feature', 'row'] },
    services: ['media-worker'],
    fromZero: true,
  },
  ingest_bytes_total: {
    type: 'counter',
    help: 'Bytes of assets that became ready.',
    labels: {},
    services: ['media-worker'],
    fromZero: true,
  },

  ...RENDERING_METRICS,

  webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts by result: delivered, deferred because of a fault of this service, or the class of failure.',
    labels: { result: ATTEMPT_RESULTS },
    services: ['webhook-dispatcher'],
    fromZero: true,
  },
  webhook_attempt_duration_seconds: {
    type: 'histogram',
    help: 'Time from signing an attempt to its outcome.',
    labels: {},
    services: ['webhook-dispatcher'],
    buckets: SECONDS.attempt,
  },
  webhook_first_attempt_lag_seconds: {
    type: 'histogram',
    help: 'Time from when a delivery became due until the claim of its first attempt.',
    labels: {},
    services: ['webhook-dispatcher'],
    buckets: SECONDS.lag,
  },
  webhook_deliveries_total: {
    type: 'counter',
    help: 'Deliveries that this process finished.',
    labels: { status: ['delivered', 'failed'] },
    services: ['webhook-dispatcher'],
    fromZero: true,
  },
  webhook_in_flight: {
    type: 'gauge',
    help: 'Attempts of this process that are in progress.',
    labels: {},
    services: ['webhook-dispatcher'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;

/** The labels of a metric, with the values that each can have. */
export type LabelsOf<Name extends MetricName> = {
  readonly [
    Label in keyof (typeof METRICS)[Name]['labels']
  ]: (typeof METRICS)[Name]['labels'][Label] extends readonly (infer Value extends string)[] ? Value : never;
};
