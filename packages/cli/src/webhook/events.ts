import { randomBytes } from 'node:crypto';
import type {
  EngineResult,
  PreparationRecord,
  RenderRecord,
  WebhookEvent,
  WebhookEventType,
} from '@lipsync/client';

export const EVENT_TYPES = Object.keys({
  'render.completed': true,
  'render.failed': true,
  'render.cancelled': true,
  'preparation.completed': true,
  'preparation.failed': true,
} satisfies Record<WebhookEventType, true>) as WebhookEventType[];

/**
 * The event that the service sends of a record that has ended: with the same bytes, once it is JSON. A record without a
 * webhook has no event at the service; its own is then called after it, so that it keeps its id however often it is sent.
 */
export function eventOf(record: RenderRecord | PreparationRecord): WebhookEvent {
  // The service's order of fields, in which rest keeps its own.
  const { id, status, stage, progress_percent, video_asset_id, ...rest } = record;
  const eventId = record.webhook_event_id ?? id.replace(/^[a-z]+/, 'evt');
  const data = { id, status, stage, progress_percent, video_asset_id, webhook_event_id: eventId, ...rest };
  const isRender = 'engines' in record;
  return {
    id: eventId,
    type: `${isRender ? 'render' : 'preparation'}.${status}`,
    created_at: record.completed_at ?? record.updated_at,
    data: isRender ? { ...data, engines: record.engines.map(withoutOutput) } : data,
  } as WebhookEvent;
}

/** Addresses of outputs last 15 minutes, so that receivers ask for them. */
function withoutOutput(result: EngineResult): EngineResult {
  const rest = { ...result };
  delete rest.output;
  return rest;
}

/** An event of this type that nothing caused, with ids that no service knows. */
export function exampleEvent(type: WebhookEventType, now = new Date()): WebhookEvent {
  const [kind = '', status = ''] = type.split('.');
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  const error = status === 'failed' && { error: NO_FACE };
  const shared = {
    status: status as RenderRecord['status'],
    stage: status,
    progress_percent: status === 'completed' ? 100 : 40,
    video_asset_id: newId('ast'),
    webhook_event_id: newId('evt'),
    created_at: after(-90),
    updated_at: after(0),
    completed_at: after(0),
    expires_at: after(7 * 86_400 - 90),
  };
  const found = { version: '1', frames: 300, fps: 25, width: 1080, height: 1920, duration_seconds: 12 };
  if (kind === 'preparation') {
    const id = newId('prp');
    const status_url = `${EXAMPLE}/v1/preparations/${id}`;
    return eventOf({ id, ...shared, status_url, ...(error || { preparation: found }) });
  }
  const id = newId('ren');
  const engine = {
    engine: 'musetalk',
    status,
    stage: status,
    progress_percent: shared.progress_percent,
    usage: {
      ...(status === 'completed' && MEASURED),
      ...UNMEASURED,
      gpu_models: [],
      engine: 'musetalk',
      status,
    },
    ...error,
    // The type of the event says which of the states it is.
  } as EngineResult;
  const status_url = `${EXAMPLE}/v1/renders/${id}`;
  const inputs = { audio_asset_id: newId('ast'), sync_mode: 'cut_off' };
  return eventOf({ id, ...shared, status_url, ...inputs, engines: [engine], ...error });
}

const EXAMPLE = 'https://api.example.com';

const NO_FACE = {
  code: 'no_face_detected',
  message: 'No face was found in the frames that are used; send a video that shows a face.',
  retryable: false,
};

const MEASURED = {
  input_video_seconds: 12,
  input_audio_seconds: 12,
  output_seconds: 12,
  analyzed_frames: 300,
  rendered_frames: 300,
  processing_ms: 41_250,
};

const UNMEASURED = {
  gpu_inference_seconds: null,
  billed_pod_seconds: null,
  observed_pod_seconds: null,
  estimated_compute_usd: null,
  estimate_coverage: 'unavailable',
} as const;

/** A prefix and 130 random bits, written as ids are: in Crockford's base 32. */
export function newId(prefix: string): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  return `${prefix}_${[...randomBytes(26)].map((byte) => digits[byte % 32]).join('')}`;
}
