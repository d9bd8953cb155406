import { ENGINES } from '@lipsync/contract';
import { type MetricDefinition, SECONDS, SLOT_DOINGS, STAGE_OWNERS, STAGES } from './metric-definition';

/** What gpu-workers tell of their work: a part of METRICS. */
export const RENDERING_METRICS = {
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
} as const satisfies Readonly<Record<string, MetricDefinition>>;
