import { randomUUID } from 'node:crypto';

/** What may be echoed into headers and logs: no spaces, no control characters, no way to forge a log field. */
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's X-Request-Id if it is acceptable, otherwise a new id. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && ACCEPTED.test(header) ? header : randomUUID();
}
