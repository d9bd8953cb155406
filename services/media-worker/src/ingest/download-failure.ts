import { type ErrorCode } from '@lipsync/contract';
import { type EgressError } from '@lipsync/runtime';

/** Statuses that mean "not now": the same request may succeed later. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Maps a failed download to the asset's error code. Coarse on purpose: it must reveal nothing about our network. */
export function downloadFailureCode(error: Pick<EgressError, 'reason' | 'status'>): ErrorCode {
  switch (error.reason) {
    case 'dns_error':
    case 'connection_failed':
    case 'tls_error':
    case 'timeout':
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
