import {
  type Asset,
  type Delivery,
  type EngineResult,
  type Media,
  type RecordResource,
  type Upload,
  WEBHOOK_RECORD_FIELD,
  type WebhookEvent,
  type WebhookEventType,
} from '@lipsync/contract';
import { storedErrorBody } from './errors';
import { type AssetRow, type UploadRow, type WebhookDeliveryRow, type WebhookEventRow } from './rows';
import { ASSET_STATES, DELIVERY_STATES, parseMediaType, UPLOAD_STATES } from './states';

/**
 * The contract requires media from the start: until the file is probed, the row holds its declared size, 0 s and
 * "unknown".
 */
function mediaView(row: AssetRow): Media {
  const { width, height, frames, fps } = row;
  return {
    size_bytes: row.sizeBytes,
    duration_seconds: row.durationSeconds,
    codec: row.codec,
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(frames === null ? {} : { frames }),
    ...(fps === null ? {} : { fps }),
  };
}

/** An asset as the contract shows it. */
export function assetResource(row: AssetRow): Asset {
  const status = ASSET_STATES.parse(row.status);
  return {
    id: row.id,
    media_type: parseMediaType(row.mediaType),
    status,
    stage: row.stage,
    ...(row.contentType === null ? {} : { content_type: row.contentType }),
    media: mediaView(row),
    ...(status === 'failed' ? { error: storedErrorBody(row) } : {}),
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}

/** Where an asset is fetched. */
export function assetUrl(id: string, options: { readonly baseUrl: string }): string {
  return publicUrl(options.baseUrl, `/v1/assets/${id}`);
}

/** A presigned PUT request: the URL, the headers that the signature covers, and its expiry. */
export interface SignedPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}

/**
 * An upload as the contract shows it. The database's clock set the expiry of the row, and this process's clock that of
 * the signed URL, in whole seconds. The response gives the earlier one, because both must hold.
 */
export function uploadResource(
  row: UploadRow,
  signed: SignedPut,
  options: { readonly baseUrl: string },
): Upload {
  return {
    id: row.id,
    asset_id: row.assetId,
    status: UPLOAD_STATES.parse(row.status),
    upload_url: signed.url,
    expires_at: new Date(Math.min(row.expiresAt.getTime(), signed.expiresAt.getTime())).toISOString(),
    method: 'PUT',
    required_headers: { ...signed.headers },
    complete_url: publicUrl(options.baseUrl, `/v1/uploads/${row.id}/complete`),
  };
}

/** The delivery of an event as the contract shows it. */
export function deliveryResource(event: WebhookEventRow, delivery: WebhookDeliveryRow): Delivery {
  const status = DELIVERY_STATES.parse(delivery.status);
  const { lastHttpStatus, lastError } = delivery;
  // An attempt under way has its end in its lease: if its outcome is lost, the next one is due then.
  const nextAttemptAt = delivery.leaseUntil ?? delivery.nextAttemptAt;
  return {
    id: event.id,
    event_type: event.type,
    delivery_id: delivery.id,
    status,
    attempts: delivery.attempts,
    ...(lastHttpStatus === null ? {} : { last_http_status: lastHttpStatus }),
    ...(lastError === null ? {} : { last_error: lastError }),
    created_at: delivery.createdAt.toISOString(),
    updated_at: delivery.updatedAt.toISOString(),
    ...(status === 'pending' && nextAttemptAt ? { next_attempt_at: nextAttemptAt.toISOString() } : {}),
    expires_at: event.expiresAt.toISOString(),
  };
}

function withoutOutput(result: EngineResult): EngineResult {
  const rest = { ...result };
  delete rest.output;
  return rest;
}

/**
 * The exact text that every attempt signs and sends. Outputs are left out, because their signed URLs last 15 minutes
 * and retries go on for a day.
 */
export function webhookEventBody(
  event: { readonly id: string; readonly type: WebhookEventType; readonly createdAt: Date },
  record: RecordResource,
): string {
  const body: WebhookEvent = {
    id: event.id,
    type: event.type,
    created_at: event.createdAt.toISOString(),
    [WEBHOOK_RECORD_FIELD]: {
      ...record,
      ...(record.engines ? { engines: record.engines.map(withoutOutput) } : {}),
    },
  };
  return JSON.stringify(body);
}

/** An absolute URL of this service. `baseUrl` has no trailing slash. */
export function publicUrl(baseUrl: string, path: string): string {
  return `${baseUrl}${path}`;
}
