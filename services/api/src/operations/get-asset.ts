import { getAsset as findAsset } from '@lipsync/db';
import { assetResource } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler, pollHint } from './operation';

/** GET /v1/assets/{id} */
export function getAsset(deps: ApiDeps): Handler {
  return async ({ customer, id }) => {
    const asset = await findAsset(deps.db, customer.id, id);
    return {
      body: assetResource(asset),
      headers: pollHint(asset.status === 'pending'),
      resourceId: asset.id,
    };
  };
}
