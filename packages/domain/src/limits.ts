import { type MediaType, openapiDocument } from '@lipsync/contract';
import { ServiceError } from './errors';
import { type CustomerRow } from './rows';

const { schemas } = openapiDocument.components;

/** Largest media file, declared or downloaded: 256 MiB. */
export const MEDIA_MAX_BYTES: number = schemas.UploadRequest.properties.size_bytes.maximum;
/** Longest media. */
export const MEDIA_MAX_SECONDS = 300;
/** Longest media or webhook URL, in characters. */
export const URL_MAX_LENGTH = 8192;
/** Largest JSON body of a request: 64 KiB. */
export const BODY_MAX_BYTES = 65_536;
/** Longest idempotency key, in code points. */
export const IDEMPOTENCY_KEY_MAX_LENGTH: number = schemas.RenderRequest.properties.idempotency_key.maxLength;

/** Lifetime of uploads and of signed upload and download URLs. */
export const SIGNED_URL_SECONDS = 900;
/** How long after its expiry an upload can still be completed, because a PUT that began in time may land late. */
export const UPLOAD_COMPLETE_GRACE_SECONDS = 900;

const DAY_SECONDS = 86_400;
/** Lifetime of renders, preparations, assets and webhook events, set when they are created. */
export const RECORD_TTL_SECONDS = 7 * DAY_SECONDS;
/** How long an expired resource is answered with 410. After that its row is purged and the resource is unknown. */
export const TOMBSTONE_SECONDS = 30 * DAY_SECONDS;

/** How often a job is claimed before it fails: the first attempt and two automatic retries. */
export const MAX_ATTEMPTS = 3;
/** A record that is not terminal this long after its creation fails with deadline_exceeded. */
export const RECORD_DEADLINE_SECONDS = 7200;
/** Requests with an invalid key that one address may make per minute before it is answered with 429. */
export const FAILED_AUTH_PER_MINUTE = 60;
/** Seconds after which a client that polls an unfinished resource is asked to look again. */
export const POLL_HINT_SECONDS = 2;

/** Limits of one customer. */
export interface CustomerLimits {
  readonly postPerMinute: number;
  readonly getPerMinute: number;
  /** Renders and preparations that are accepted or processing. */
  readonly activeRecordsMax: number;
  /** Engine jobs that run at once. This enforces fair share and never causes an error. */
  readonly runningJobsMax: number;
  readonly openUploadsMax: number;
}

export const DEFAULT_CUSTOMER_LIMITS: CustomerLimits = {
  postPerMinute: 300,
  getPerMinute: 1500,
  activeRecordsMax: 20,
  runningJobsMax: 4,
  openUploadsMax: 50,
};

/** The limits of a customer: its own where set, otherwise the defaults. */
export function customerLimits(customer: Pick<CustomerRow, keyof CustomerLimits>): CustomerLimits {
  const defaults = DEFAULT_CUSTOMER_LIMITS;
  return {
    postPerMinute: customer.postPerMinute ?? defaults.postPerMinute,
    getPerMinute: customer.getPerMinute ?? defaults.getPerMinute,
    activeRecordsMax: customer.activeRecordsMax ?? defaults.activeRecordsMax,
    runningJobsMax: customer.runningJobsMax ?? defaults.runningJobsMax,
    openUploadsMax: customer.openUploadsMax ?? defaults.openUploadsMax,
  };
}

/**
 * High enough that no slot waits for the next turn, low enough that a newly arrived customer soon gets its turn.
 */
const READY_PER_SLOT = 1.5;
/**
 * The share of the media slots that one customer may use where there are several customers. An ingest takes as long as
 * its source does, minutes at worst, so a newcomer's file must still find a free slot.
 */
const INGEST_SHARE = 0.75;

/** How many jobs of a queue, enqueued or running, its live slots allow at once. */
export function enqueueCapacity(liveSlots: number): number {
  return Math.ceil(liveSlots * READY_PER_SLOT);
}

/**
 * The ingests that one of several customers may have under way at once, enqueued or running: fewer than there are
 * slots, unless there is only one, so that none of its messages ever waits for a slot ahead of another customer's.
 */
export function ingestCap(liveSlots: number): number {
  return Math.max(1, Math.floor(liveSlots * INGEST_SHARE));
}

/** The content types that an upload may declare. The bytes decide later what the file really is. */
export const CONTENT_TYPES: Readonly<Record<MediaType, readonly string[]>> = {
  video: ['video/mp4', 'video/quicktime', 'video/webm', 'video/x-matroska'],
  audio: [
    'audio/mpeg',
    'audio/wav',
    'audio/x-wav',
    'audio/wave',
    'audio/mp4',
    'audio/x-m4a',
    'audio/aac',
    'audio/ogg',
    'audio/flac',
    'audio/webm',
  ],
};

/**
 * The content type of an upload, without parameters and in lower case.
 * @throws ServiceError unsupported_content_type
 */
export function uploadContentType(mediaType: MediaType, declared: string): string {
  const essence = (declared.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (CONTENT_TYPES[mediaType].includes(essence)) return essence;
  const detail = `For ${mediaType}, content_type must be one of ${CONTENT_TYPES[mediaType].join(', ')}.`;
  throw new ServiceError('unsupported_content_type', { detail });
}
