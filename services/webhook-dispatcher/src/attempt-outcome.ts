import { type DeliveryOutcome } from '@lipsync/db';
import { type EgressErrorReason, type PostResponse } from '@lipsync/runtime';
import { parseRetryAfter } from './retry-after';

/** What customers read in `last_error`: a class of failure, never an address, a port or a body. */
const ERROR_CLASSES: Readonly<Record<EgressErrorReason, string>> = {
  dns_error: 'dns_error',
  connection_failed: 'connection_failed',
  tls_error: 'tls_error',
  timeout: 'timeout',
  address_not_allowed: 'address_not_allowed',
  redirect: 'redirect',
  http_status: 'http_error',
  // Responses to a POST are not measured; listed because the client shares its reasons with downloads.
  too_large: 'http_error',
  no_answer: 'timeout',
  too_slow: 'timeout',
};

/** The outcome of a response: 200 to 299 is success; a redirect is a failure class of its own and is never followed. */
export function outcomeOfAnswer({ status, retryAfter }: PostResponse, nowMs: number): DeliveryOutcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered', httpStatus: status };
  return {
    kind: 'failed',
    error: status >= 300 && status <= 399 ? 'redirect' : 'http_error',
    httpStatus: status,
    retryAfterSeconds: parseRetryAfter(retryAfter, nowMs),
  };
}

/** The outcome of an attempt that got no response. */
export function outcomeOfError(reason: EgressErrorReason): DeliveryOutcome {
  return { kind: 'failed', error: ERROR_CLASSES[reason] };
}
