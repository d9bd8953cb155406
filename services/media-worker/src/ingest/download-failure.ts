import { type ErrorCode } from '@lipsync/contract';
import { CONNECT_TIMEOUT_MS, DEFAULT_RATE_FLOOR, type EgressError } from '@lipsync/runtime';
import { type DownloadSeconds } from './ingest-context';

/** Statuses that mean "not now": the same request may succeed later. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

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
  return status >= 500 || PASSING_STATUSES.has(status) ? 'media_download_failed' : 'media_not_accessible';
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
