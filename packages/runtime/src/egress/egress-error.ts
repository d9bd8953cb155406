/**
 * Why a request to a customer's URL failed. Deliberately coarse: what a customer sees must not reveal which internal
 * addresses or ports exist.
 */
export type EgressErrorReason =
  | 'dns_error'
  | 'connection_failed'
  | 'tls_error'
  | 'timeout'
  // Of a download only: there was no connection or no first byte in time, or the bytes came below the rate floor.
  | 'no_answer'
  | 'too_slow'
  | 'address_not_allowed'
  | 'too_large'
  | 'redirect'
  | 'http_status';

/** Error codes of a socket that this process or machine had no means to open. */
const OWN_FAULTS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** Whether an error is nobody's fault but ours, so that it must not count against the other side. */
export function isOwnFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OWN_FAULTS.has(error.code);
}

/** Thrown for every failure caused by the other side, the network or the policy. */
export class EgressError extends Error {
  override readonly name = 'EgressError';

  constructor(
    readonly reason: EgressErrorReason,
    /** The HTTP status, if there was one (`http_status`, `redirect`). */
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(status === undefined ? reason : `${reason} (${status})`, options);
  }
}
