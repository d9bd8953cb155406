import { type RecordResource } from '@lipsync/contract';
import { type LoggedEvent } from '../target/receiver';
import { type SentCreate, type TrackedRender } from '../track/ledger';
import { type Outcome } from '../track/outcome';

export const AT = '2026-01-01T00:00:00.000Z';

export const SUCCESS: Outcome = { class: 'success', status: 200, code: null, retryable: null };
export const LIMITED: Outcome = {
  class: 'limited',
  status: 429,
  code: 'rate_limit_exceeded',
  retryable: true,
};

/** A render as the service shows it: just accepted, unless the test says otherwise. */
export const recordOf = (id: string, over: Partial<RecordResource> = {}): RecordResource => ({
  id,
  status: 'accepted',
  stage: 'queued',
  progress_percent: 0,
  video_asset_id: 'video',
  created_at: AT,
  updated_at: AT,
  expires_at: AT,
  status_url: `https://api.example.test/v1/renders/${id}`,
  ...over,
});

/** A create whose caller wants the result. */
export const sentCreate = (over: Partial<SentCreate> = {}): SentCreate => ({
  customer: 0,
  purpose: 'result',
  idempotencyKey: 'key',
  request: {
    video: { asset_id: 'video' },
    audio: { asset_id: 'audio' },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
  },
  announcedTo: null,
  intendedAt: 90,
  isWarmUp: false,
  ...over,
});

/** A render as the harness remembers it: accepted and not ended. */
export const trackedRender = (over: Partial<TrackedRender> = {}): TrackedRender => ({
  id: 'render',
  customer: 0,
  purpose: 'result',
  engines: 1,
  acceptedAfterMs: 0,
  acceptedAt: 0,
  isWarmUp: false,
  announcedTo: null,
  createdAt: 0,
  status: 'accepted',
  progress: 0,
  seenAt: 0,
  started: null,
  end: null,
  flaws: [],
  ...over,
});

/** A render that ended as `end` says; it completed at 0 by default. */
export function endedRender(
  end: Partial<NonNullable<TrackedRender['end']>> = {},
  over: Partial<TrackedRender> = {},
): TrackedRender {
  const all = {
    status: 'completed' as const,
    completedAt: 0,
    errorCode: null,
    webhookEventId: null,
    outputSeconds: 0,
    processingMs: 0,
    ...end,
  };
  return trackedRender({ status: all.status, progress: 100, end: all, ...over });
}

/** An event that its receiver acknowledged at once. */
export const loggedEvent = (over: Partial<LoggedEvent> = {}): LoggedEvent => ({
  id: 'event',
  type: 'render.completed',
  recordId: 'render',
  status: 'completed',
  behavior: 'fast',
  createdAt: 5,
  firstAt: 6,
  attempts: 1,
  acknowledged: true,
  redeliveries: 0,
  ...over,
});
