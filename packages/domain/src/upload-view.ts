import { type Upload } from '@lipsync/contract';
import { publicUrl } from './public-url';
import { type UploadRow } from './rows';
import { UPLOAD_STATES } from './transitions';

/** A signed PUT: the address, and the headers that the signature binds. */
export interface SignedPut {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An upload as the contract shows it. */
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
    expires_at: row.expiresAt.toISOString(),
    method: 'PUT',
    required_headers: { ...signed.headers },
    complete_url: publicUrl(options.baseUrl, `/v1/uploads/${row.id}/complete`),
  };
}
