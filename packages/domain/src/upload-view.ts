import { type Upload } from '@lipsync/contract';
import { publicUrl } from './public-url';
import { type UploadRow } from './rows';
import { UPLOAD_STATES } from './states';

/** A signed PUT: the address, the headers that the signature binds, and until when it is good. */
export interface SignedPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}

/**
 * An upload as the contract shows it. It was stored by the clock of the database and signed by that of this process, in
 * whole seconds: what is told is the earlier end, for the address is good until then and no longer.
 */
export function uploadResource(
  row: UploadRow,
  signed: SignedPut,
  options: { readonly baseUrl: string },
): Upload {
  return {
    id: row.id,
    asset_id: row.assetId,
    status: UPLOAD_STATES.parse(row.status),
    upload_url: signed.url,
    expires_at: new Date(Math.min(row.expiresAt.getTime(), signed.expiresAt.getTime())).toISOString(),
    method: 'PUT',
    required_headers: { ...signed.headers },
    complete_url: publicUrl(options.baseUrl, `/v1/uploads/${row.id}/complete`),
  };
}
