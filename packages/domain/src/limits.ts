import { openapiDocument } from '@lipsync/contract';
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

/** Lifetime of signed upload and download addresses, and of an upload. */
export const SIGNED_URL_SECONDS = 900;
/** After an upload's expiry: a PUT that began in time may still land, so completing stays possible for so long. */
export const UPLOAD_COMPLETE_GRACE_SECONDS = 900;

const DAY_SECONDS = 86_400;
/** Lifetime of renders, preparations, assets and webhook events, fixed when they are created. */
export const RECORD_TTL_SECONDS = 7 * DAY_SECONDS;
/** How long after its expiry a resource is answered with 410; then its row is purged and it is unknown. */
export const TOMBSTONE_SECONDS = 30 * DAY_SECONDS;

/** Claims of one job before it fails: the first and two automatic retries. */
export const MAX_ATTEMPTS = 3;
/** A record that is not terminal this long after its creation fails with deadline_exceeded. */
export const RECORD_DEADLINE_SECONDS = 7200;
/** Requests with a bad key per minute and address before they are answered with 429. */
export const FAILED_AUTH_PER_MINUTE = 60;
/** Seconds after which a poller of an unfinished resource is asked to look again. */
export const POLL_HINT_SECONDS = 2;

/** Limits of one customer. */
export interface CustomerLimits {
  readonly postPerMinute: number;
  readonly getPerMinute: number;
  /** Accepted and processing renders and preparations. */
  readonly activeRecordsMax: number;
  /** Engine jobs running at once: fair share, never an error. */
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

/** The limits that hold for a customer: its own where set, the defaults elsewhere. */
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
