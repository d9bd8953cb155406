import { type PackClaim } from './pack-claim';

/** Why a pack cannot be used. An engine without a usable pack is unavailable; it never renders something wrong. */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly reason:
      'pack_missing' | 'pack_replaced' | 'manifest_invalid' | 'file_missing' | 'digest_mismatch',
    message: string,
    options?: ErrorOptions,
    /** Of a manifest that is there and of no use: what it says all the same. */
    readonly claim: PackClaim = {},
  ) {
    super(message, options);
  }
}
