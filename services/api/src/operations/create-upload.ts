import { createUpload as insertUpload } from '@lipsync/db';
import { assetUrl, uploadContentType, uploadResource } from '@lipsync/domain';
import { uploadKey } from '@lipsync/storage';
import { type ApiDeps } from '../api-deps';
import { requireBody } from '../http/body';
import { type Handler } from './operation';

/** POST /v1/uploads: an asset that awaits its bytes, and the signed PUT for them, bound to their type and length. */
export function createUpload(deps: ApiDeps): Handler {
  const { db, storage, config } = deps;
  return async ({ customer, body }) => {
    const request = requireBody('UploadRequest', body);
    const contentType = uploadContentType(request.media_type, request.content_type);
    const { upload } = await insertUpload(db, {
      customerId: customer.id,
      mediaType: request.media_type,
      contentType,
      sizeBytes: request.size_bytes,
      ttlSeconds: config.uploadTtlSeconds,
      assetTtlSeconds: config.recordTtlSeconds,
      stagingKey: uploadKey,
    });
    const signed = await storage.presignPut(upload.stagingKey, {
      contentType,
      contentLength: upload.sizeBytes,
      expiresSeconds: config.uploadTtlSeconds,
    });
    const { publicBaseUrl: baseUrl } = config;
    return {
      body: uploadResource(upload, signed, { baseUrl }),
      // An upload itself has no address; what it makes is the asset.
      headers: { Location: assetUrl(upload.assetId, { baseUrl }) },
      resourceId: upload.id,
    };
  };
}
