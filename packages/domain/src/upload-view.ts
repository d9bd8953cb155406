import { type Upload } from '@lipsync/contract';
import { publicUrl } from './public-url';
import { type UploadRow } from './rows';
import { UPLOAD_STATES } from './states';

/** A presigned PUT request: the URL, the headers that the signature covers, and its expiry. */
export interface SignedPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
}

/**
 * An upload as the contract shows it. The database's clock set the expiry of the row, and this process's clock that of
 * the signed URL, in whole seconds. The response gives the earlier one, because both must hold.
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
