/**
 * Why a request to a customer's URL failed. Coarse on purpose: what a customer sees of it must not tell which
 * internal addresses or ports exist.
 */
export type EgressErrorReason =
  | 'dns_error'
  | 'connection_failed'
  | 'tls_error'
  | 'timeout'
  | 'address_not_allowed'
  | 'too_large'
  | 'redirect'
  | 'http_status';

/** Thrown for every failure that the other side, the network or the policy caused. */
export class EgressError extends Error {
  override readonly name = 'EgressError';

  constructor(
    readonly reason: EgressErrorReason,
    /** The HTTP status, when there was one (`http_status`, `redirect`). */
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(status === undefined ? reason : `${reason} (${status})`, options);
  }
}
