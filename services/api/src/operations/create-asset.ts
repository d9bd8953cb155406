import { createAsset as insertAsset } from '@lipsync/db';
import { assetResource, assetUrl, parseMediaUrl } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { requireBody } from '../http/body';
import { type Handler } from './operation';

/** POST /v1/assets: an asset that a media-worker fetches from a URL. */
export function createAsset(deps: ApiDeps): Handler {
  return async ({ customer, body, traceParent }) => {
    const request = requireBody('AssetRequest', body);
    const url = parseMediaUrl(request.url, '/url');
    const asset = await insertAsset(deps.db, {
      customerId: customer.id,
      mediaType: request.media_type,
      url: url.href,
      ttlSeconds: deps.config.recordTtlSeconds,
      traceParent,
    });
    deps.enqueuer.enqueueSoon(['media']);
    return {
      body: assetResource(asset),
      headers: { Location: assetUrl(asset.id, { baseUrl: deps.config.publicBaseUrl }) },
      resourceId: asset.id,
    };
  };
}
