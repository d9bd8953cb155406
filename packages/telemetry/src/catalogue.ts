import { ENGINES } from '@lipsync/contract';
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
  SLOT_DOINGS,
  STAGE_OWNERS,
  STAGES,
} from './metric-definition';

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

  stage_duration_seconds: {
    type: 'histogram',
    help: 'Time that a completed job spent in a stage; stages overlap.',
    labels: { engine: STAGE_OWNERS, stage: STAGES },
    services: ['gpu-worker'],
    buckets: SECONDS.stage,
  },
  render_realtime_factor: {
    type: 'histogram',
    help: 'Seconds of work, from claim to upload, per second of output.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 20, 35, 60, 100],
  },
  output_seconds_total: {
    type: 'counter',
    help: 'Seconds of rendered video.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    fromZero: true,
  },
  gpu_seconds_total: {
    type: 'counter',
    help: 'Seconds spent in graphs on a GPU; stays 0 if they run on the CPU.',
    labels: { engine: STAGE_OWNERS },
    services: ['gpu-worker'],
    fromZero: true,
  },
  slot_seconds_total: {
    type: 'counter',
    help: 'Seconds of this process’s slots by what they went into: the graphs of engines, or what these waited for. A job’s are added when it ends.',
    labels: { doing: SLOT_DOINGS },
    services: ['gpu-worker'],
    fromZero: true,
  },
  cache_requests_total: {
    type: 'counter',
    help: 'Requests to the disk cache of inputs, and to the caches of face tracks and features; a miss is fetched or computed.',
    labels: { cache: ['inputs', 'face_track', 'features'], result: ['hit', 'miss'] },
    services: ['gpu-worker'],
    fromZero: true,
  },
  render_sync_correlation: {
    type: 'histogram',
    help: 'Correlation of mouth opening and loudness, measured on outputs with speech; 0: the mouth stays still. Natural speech has −0.1 to 0.5, so more is not better.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    // The second holds exactly the mouths that stay still.
    buckets: [-0.001, 0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  },
  render_sync_lag_seconds: {
    type: 'histogram',
    help: 'Delay of the mouth behind the voice, if it follows the loudness closely enough to have one; negative: it is ahead.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: SECONDS.syncLag,
  },
  render_seam_levels: {
    type: 'histogram',
    help: 'Mean brightness step, in gray levels of 256, along the border of the pasted face; visible from 10 on.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [1, 2, 3, 4, 6, 8, 10, 15, 20, 40],
  },
  render_skin_psnr_db: {
    type: 'histogram',
    help: 'PSNR of the generated skin around the mouth against the source, in dB; higher is more similar.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [15, 20, 25, 30, 35, 40, 45, 50, 60],
  },
  render_without_face_ratio: {
    type: 'histogram',
    help: 'Share of an output that was left unchanged because it shows no face that the engine can render.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.99, 1],
  },
  engine_available: {
    type: 'gauge',
    help: '1: this worker serves the engine; 0: it should, but has no usable model pack.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
  },
  outputs_marked_total: {
    type: 'counter',
    help: 'Outputs by whether they got their content credentials: signed, or failed (delivered without). None are counted without a certificate.',
    labels: { marking: ['signed', 'failed'] },
    services: ['gpu-worker'],
    fromZero: true,
  },
  signing_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the certificate for content credentials, or one of its chain, expires; absent without one.',
    labels: {},
    services: ['gpu-worker'],
  },
  inference_restarts_total: {
    type: 'counter',
    help: 'Inference processes that ended unexpectedly and are replaced: crashed, killed from outside (memory), stopped because they ignored a cancel (unresponsive), gave no sign of life (silent) or because a graph failed on their GPU, or never started.',
    labels: { reason: ['crashed', 'killed', 'unresponsive', 'silent', 'graph_failed', 'not_started'] },
    services: ['gpu-worker'],
    fromZero: true,
  },

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
