import { type PackClaim } from './pack-claim';

/** Why a pack cannot be used. An engine without a usable pack is unavailable; it never renders something wrong. */
export class PackError extends Error {
  override readonly name = 'PackError';
  constructor(
    readonly reason:
      'pack_missing' | 'pack_replaced' | 'manifest_invalid' | 'file_missing' | 'digest_mismatch',
    message: string,
    options?: ErrorOptions,
    /** For a manifest that exists but is unusable: what it claims nevertheless. */
    readonly claim: PackClaim = {},
  ) {
    super(message, options);
  }
}
