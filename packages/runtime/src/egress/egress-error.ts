/**
 * Why a request to a customer's URL failed. Deliberately coarse: what a customer sees must not reveal which internal
 * addresses or ports exist.
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
