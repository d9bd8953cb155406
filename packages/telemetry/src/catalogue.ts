import { ENGINES } from '@lipsync/contract';
import {
  ANY,
  ATTEMPT_RESULTS,
  ERROR_CODES,
  JOB_OUTCOMES,
  LOOPS,
  OPERATION_LABELS,
  QUEUES,
  REPLAYABLE,
  STAGE_OWNERS,
  STAGES,
} from './label-values';
import { type MetricDefinition, SERVICES } from './metric-definition';

const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600];
const JOB_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600, 1800, 3600];
const STAGE_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const LAG_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900];
/** Whole frames at 25 frames per second. */
const SYNC_LAG_SECONDS = [-0.2, -0.12, -0.08, -0.04, 0, 0.04, 0.08, 0.12, 0.2];

/**
 * Every metric of every service, by its name without the prefix `lipsync_`. docs/metrics.md is checked against this.
 */
export const METRICS = {
  build_info: {
    type: 'gauge',
    help: 'Always 1; its labels say what runs.',
    labels: { component: SERVICES, version: ANY },
    services: SERVICES,
  },

  http_request_duration_seconds: {
    type: 'histogram',
    help: 'From the request line to the end of the answer, by operation and HTTP status; 499: the caller hung up.',
    labels: { operation: OPERATION_LABELS, status: ANY },
    services: ['api'],
    buckets: REQUEST_SECONDS,
  },
  http_errors_total: {
    type: 'counter',
    help: 'Answers that are errors, by error.code of the contract.',
    labels: { operation: OPERATION_LABELS, code: ERROR_CODES },
    services: ['api'],
  },
  idempotent_replays_total: {
    type: 'counter',
    help: 'Requests that named an idempotency key of an earlier one and were answered with what that had made.',
    labels: { operation: REPLAYABLE },
    services: ['api'],
    fromZero: true,
  },
  rate_limit_decisions_total: {
    type: 'counter',
    help: 'Questions to the rate limiter; unavailable: Redis did not answer and everything is allowed.',
    labels: {
      limit: ['reads', 'writes', 'failed_auth'],
      decision: ['allowed', 'refused', 'unavailable'],
    },
    services: ['api'],
    fromZero: true,
  },

  queue_wait_seconds: {
    type: 'histogram',
    help: 'From the moment a job could be worked on to its claim.',
    labels: { queue: QUEUES },
    services: ['media-worker', 'gpu-worker'],
    buckets: WAIT_SECONDS,
  },
  jobs_total: {
    type: 'counter',
    help: 'Claims that ended, by how; only completed and failed end the job.',
    labels: { queue: QUEUES, outcome: JOB_OUTCOMES },
    services: ['media-worker', 'gpu-worker'],
  },
  job_duration_seconds: {
    type: 'histogram',
    help: 'From the claim of a job to its end.',
    labels: { queue: QUEUES, outcome: JOB_OUTCOMES },
    services: ['media-worker', 'gpu-worker'],
    buckets: JOB_SECONDS,
  },
  slots: {
    type: 'gauge',
    help: 'Jobs of this queue that this process takes at once; a gpu-worker shares the same slots among its queues.',
    labels: { queue: QUEUES },
    services: ['media-worker', 'gpu-worker'],
  },
  slots_busy: {
    type: 'gauge',
    help: 'Slots of this process that work on a job now.',
    labels: {},
    services: ['media-worker', 'gpu-worker'],
  },

  loop_turns_total: {
    type: 'counter',
    help: 'Turns of what a process does again and again.',
    labels: { loop: LOOPS, outcome: ['completed', 'failed'] },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },
  loop_last_turn_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last turn of this loop ended, well or not, in seconds since the epoch.',
    labels: { loop: LOOPS },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },
  loop_pause_seconds: {
    type: 'gauge',
    help: 'How long this loop rests between two turns; later than that and a while, it hangs.',
    labels: { loop: LOOPS },
    services: ['media-worker', 'gpu-worker', 'webhook-dispatcher'],
  },

  queue_jobs: {
    type: 'gauge',
    help: 'Jobs that have not ended, of the whole system. Every media-worker tells the same: take the maximum.',
    labels: { queue: QUEUES, state: ['blocked', 'waiting', 'dispatched', 'running'] },
    services: ['media-worker'],
  },
  queue_oldest_seconds: {
    type: 'gauge',
    help: 'For how long the oldest job has been able to run and has not, of the whole system, without those that their customer’s own running-jobs cap holds back where somebody serves the queue; 0: none waits.',
    labels: { queue: QUEUES },
    services: ['media-worker'],
  },
  live_slots: {
    type: 'gauge',
    help: 'Slots of all workers that are there, of the whole system.',
    labels: { queue: QUEUES },
    services: ['media-worker'],
  },
  unserved_deadline_seconds: {
    type: 'gauge',
    help: 'How long a job waits while no worker serves its queue, then it fails (UNSERVED_DEADLINE_SECONDS).',
    labels: {},
    services: ['media-worker'],
  },
  webhook_backlog: {
    type: 'gauge',
    help: 'Deliveries that have not ended: due now (under way included), or scheduled for later. Of the whole system.',
    labels: { state: ['due', 'scheduled'] },
    services: ['media-worker'],
  },
  webhook_oldest_due_seconds: {
    type: 'gauge',
    help: 'For how long the oldest delivery has been due that a dispatcher may take now, of the whole system: none under way, none at the cap of its origin or customer; 0: there is none.',
    labels: {},
    services: ['media-worker'],
  },
  reconciler_actions_total: {
    type: 'counter',
    help: 'What this process put right: announcements that Redis forgot, and those to queues that no worker serves any more, leases run out, attempts used up, deadlines, stale uploads.',
    labels: { action: ['rering', 'unserved', 'expired_lease', 'given_up', 'deadline', 'expired_upload'] },
    services: ['media-worker'],
    fromZero: true,
  },
  purged_total: {
    type: 'counter',
    help: 'What this process deleted after its time: records whose bytes are gone, unused features, rows.',
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
    help: 'Time that a completed job spent in a stage that it passed; stages overlap.',
    labels: { engine: STAGE_OWNERS, stage: STAGES },
    services: ['gpu-worker'],
    buckets: STAGE_SECONDS,
  },
  render_realtime_factor: {
    type: 'histogram',
    help: 'Seconds of work, from claim to upload, for each second of output.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 20, 35, 60, 100],
  },
  output_seconds_total: {
    type: 'counter',
    help: 'Seconds of video that were rendered.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    fromZero: true,
  },
  gpu_seconds_total: {
    type: 'counter',
    help: 'Seconds inside graphs on a GPU; stays 0 where they run on the CPU.',
    labels: { engine: STAGE_OWNERS },
    services: ['gpu-worker'],
    fromZero: true,
  },
  cache_requests_total: {
    type: 'counter',
    help: 'Inputs asked of the disk cache; face tracks and features that were known, or had to be computed.',
    labels: { cache: ['inputs', 'face_track', 'features'], result: ['hit', 'miss'] },
    services: ['gpu-worker'],
    fromZero: true,
  },
  render_sync_correlation: {
    type: 'histogram',
    help: 'Correlation of the opening of the mouth with the voice, measured on outputs that are spoken in; 0: it stays still.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  },
  render_sync_lag_seconds: {
    type: 'histogram',
    help: 'By how much the mouth follows the voice, where it does; negative: it is ahead.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: SYNC_LAG_SECONDS,
  },
  render_seam_levels: {
    type: 'histogram',
    help: 'Mean step of brightness, in grey levels of 256, along the border of the pasted face; from 10 on it shows.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [1, 2, 3, 4, 6, 8, 10, 15, 20, 40],
  },
  render_skin_psnr_db: {
    type: 'histogram',
    help: 'PSNR of the skin that was generated around the mouth against the source, in dB: the higher, the more it is the same face.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [15, 20, 25, 30, 35, 40, 45, 50, 60],
  },
  render_without_face_ratio: {
    type: 'histogram',
    help: 'Share of an output that passed untouched because it shows no face that the engine can render.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
    buckets: [0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.99, 1],
  },
  engine_available: {
    type: 'gauge',
    help: '1: this worker serves the engine; 0: it was told to, and has no usable model pack.',
    labels: { engine: ENGINES },
    services: ['gpu-worker'],
  },
  inference_restarts_total: {
    type: 'counter',
    help: 'Inference processes that ended unasked and are replaced: their own fault, killed from outside (memory), stopped because they did not heed a cancel or because a graph failed on their GPU, or never started.',
    labels: { reason: ['crashed', 'killed', 'unresponsive', 'graph_failed', 'not_started'] },
    services: ['gpu-worker'],
    fromZero: true,
  },

  webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts, by what they came to: delivered, deferred for a fault of ours, or the class of failure.',
    labels: { result: ATTEMPT_RESULTS },
    services: ['webhook-dispatcher'],
    fromZero: true,
  },
  webhook_attempt_duration_seconds: {
    type: 'histogram',
    help: 'From signing an attempt to its outcome.',
    labels: {},
    services: ['webhook-dispatcher'],
    buckets: ATTEMPT_SECONDS,
  },
  webhook_first_attempt_lag_seconds: {
    type: 'histogram',
    help: 'From the moment a delivery became due to the claim of its first attempt.',
    labels: {},
    services: ['webhook-dispatcher'],
    buckets: LAG_SECONDS,
  },
  webhook_deliveries_total: {
    type: 'counter',
    help: 'Deliveries that this process settled for good.',
    labels: { status: ['delivered', 'failed'] },
    services: ['webhook-dispatcher'],
    fromZero: true,
  },
  webhook_in_flight: {
    type: 'gauge',
    help: 'Attempts of this process that are under way.',
    labels: {},
    services: ['webhook-dispatcher'],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;

/** The names of all metrics of one type. */
export type NameOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** The labels of a metric, with the values that each can have. */
export type LabelsOf<Name extends MetricName> = {
  readonly [
    Label in keyof (typeof METRICS)[Name]['labels']
  ]: (typeof METRICS)[Name]['labels'][Label] extends readonly (infer Value extends string)[] ? Value : never;
};
