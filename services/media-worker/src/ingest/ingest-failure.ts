import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { isMediaError, MediaProcessError } from '@lipsync/media';
import { CONNECT_TIMEOUT_MS, DEFAULT_RATE_FLOOR, type EgressError } from '@lipsync/runtime';
import { isStorageAwayAtFirst, StorageError } from '@lipsync/storage';
import { type JobDisposition } from '@lipsync/worker';

/** Why an asset cannot be ingested, as a code of the error catalogue; the message is for logs. */
export class IngestFailure extends Error {
  override readonly name = 'IngestFailure';
  /** Tells the customer more than the catalogue does. */
  readonly detail: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { detail, ...options }: ErrorOptions & { readonly detail?: string | undefined } = {},
  ) {
    super(message, options);
    this.detail = detail;
  }
}

/** Classifies an error of an ingest that was not stopped. */
export function classifyIngestError(error: unknown): JobDisposition {
  if (isMediaError(error)) return { kind: 'fail', code: error.code, detail: error.detail };
  if (error instanceof IngestFailure) {
    const { code, detail } = error;
    return { kind: ERROR_CATALOGUE[code].retryable ? 'retry' : 'fail', code, detail };
  }
  if (isStorageAwayAtFirst(error)) return { kind: 'postpone', code: 'storage_failed' };
  if (error instanceof StorageError) return { kind: 'retry', code: 'storage_failed' };
  // A file that no decoder finishes in time is too expensive; a single timeout may have been due to a busy machine.
  if (error instanceof MediaProcessError && error.reason === 'deadline') {
    return {
      kind: 'retry',
      code: 'media_unsupported',
      detail: 'Decoding takes too long; use a smaller or shorter file.',
    };
  }
  return { kind: 'retry', code: 'internal_error' };
}

/** Statuses that mean "not now": the same request may succeed later. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Maps a failed download to the asset's error code. Coarse on purpose: it must reveal nothing about our network. */
export function downloadFailureCode(error: Pick<EgressError, 'reason' | 'status'>): ErrorCode {
  switch (error.reason) {
    case 'dns_error':
    case 'connection_failed':
    case 'tls_error':
    case 'timeout':
    case 'no_answer':
    case 'too_slow':
      return 'media_download_failed';
    case 'address_not_allowed':
    case 'redirect':
      return 'media_url_not_allowed';
    case 'too_large':
      return 'media_too_large';
    case 'http_status':
      return statusCode(error.status ?? 0);
  }
}

function statusCode(status: number): ErrorCode {
  return status >= 500 || TEMPORARY_STATUSES.has(status) ? 'media_download_failed' : 'media_not_accessible';
}

/** How long a download may take, and how long it may take until the first byte of the file. */
export interface DownloadSeconds {
  readonly total: number;
  readonly firstByte: number;
}

/** What customers read about a download that exceeded one of the limits on time; otherwise undefined. */
export function downloadFailureDetail(
  { reason }: Pick<EgressError, 'reason'>,
  { total, firstByte }: DownloadSeconds,
): string | undefined {
  switch (reason) {
    case 'no_answer':
      return `The media's server did not answer: it has ${CONNECT_TIMEOUT_MS / 1000} seconds to accept the connection and ${firstByte} to send the first byte.`;
    case 'too_slow':
      return `The media's server sent less than ${DEFAULT_RATE_FLOOR.bytesPerSecond / 1024} KiB per second for ${DEFAULT_RATE_FLOOR.windowMs / 1000} seconds; use a faster server or an upload.`;
    case 'timeout':
      return `The media could not be downloaded within ${total} seconds; use a faster server, a smaller file or an upload.`;
    default:
      return undefined;
  }
}
