import {
  BODY_MAX_BYTES,
  CONTENT_TYPES,
  DEFAULT_CUSTOMER_LIMITS,
  FAILED_AUTH_PER_MINUTE,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  MAX_ATTEMPTS,
  MEDIA_MAX_BYTES,
  MEDIA_MAX_SECONDS,
  POLL_HINT_SECONDS,
  RECORD_DEADLINE_SECONDS,
  SIGNED_URL_SECONDS,
  TOMBSTONE_SECONDS,
  URL_MAX_LENGTH,
  WEBHOOK_RETRY_DELAYS_SECONDS,
  WEBHOOK_TIMEOUT_SECONDS,
  WEBHOOK_WINDOW_SECONDS,
} from '@lipsync/domain';
import { DEFAULT_RATE_FLOOR } from '@lipsync/runtime';

const KIB = 1024;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** The settings that the pages state. */
export interface Lifetimes {
  readonly recordTtlSeconds: number;
  readonly uploadTtlSeconds: number;
}

/** What the pages say in numbers, from the constants and settings that the service obeys. */
export const figures = ({
  recordTtlSeconds,
  uploadTtlSeconds,
}: Lifetimes): Readonly<Record<string, string>> => ({
  media_mib: String(MEDIA_MAX_BYTES / KIB ** 2),
  media_bytes: String(MEDIA_MAX_BYTES),
  media_seconds: String(MEDIA_MAX_SECONDS),
  body_kib: String(BODY_MAX_BYTES / KIB),
  url_length: String(URL_MAX_LENGTH),
  key_length: String(IDEMPOTENCY_KEY_MAX_LENGTH),
  signed_minutes: String(SIGNED_URL_SECONDS / MINUTE),
  record_lifetime: inWords(recordTtlSeconds),
  upload_lifetime: inWords(uploadTtlSeconds),
  tombstone_days: String(TOMBSTONE_SECONDS / DAY),
  deadline_hours: String(RECORD_DEADLINE_SECONDS / HOUR),
  attempts: String(MAX_ATTEMPTS),
  poll_seconds: String(POLL_HINT_SECONDS),
  failed_auth: String(FAILED_AUTH_PER_MINUTE),
  post_per_minute: String(DEFAULT_CUSTOMER_LIMITS.postPerMinute),
  get_per_minute: String(DEFAULT_CUSTOMER_LIMITS.getPerMinute),
  active_records: String(DEFAULT_CUSTOMER_LIMITS.activeRecordsMax),
  running_jobs: String(DEFAULT_CUSTOMER_LIMITS.runningJobsMax),
  open_uploads: String(DEFAULT_CUSTOMER_LIMITS.openUploadsMax),
  floor_kib: String(DEFAULT_RATE_FLOOR.bytesPerSecond / KIB),
  floor_seconds: String(DEFAULT_RATE_FLOOR.windowMs / 1000),
  webhook_seconds: String(WEBHOOK_TIMEOUT_SECONDS),
  webhook_hours: String(WEBHOOK_WINDOW_SECONDS / HOUR),
  webhook_retries: String(WEBHOOK_RETRY_DELAYS_SECONDS.length),
  webhook_delays: listed(WEBHOOK_RETRY_DELAYS_SECONDS.map(duration)),
  video_types: CONTENT_TYPES.video.join(', '),
  audio_types: CONTENT_TYPES.audio.join(', '),
});

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1, 'second'],
] as const;

/** In the largest unit of which it is a whole number: 7 days, 36 hours, 1 minute. */
function inWords(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds % size === 0) ?? UNITS[3];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}

function duration(seconds: number): string {
  if (seconds % HOUR === 0) return `${seconds / HOUR} h`;
  return seconds % MINUTE === 0 ? `${seconds / MINUTE} min` : `${seconds} s`;
}

function listed(items: readonly string[]): string {
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`;
}
