import { completeUpload as markCompleted } from '@lipsync/db';
import { assetResource } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';

/**
 * POST /v1/uploads/{id}/complete. The entity tag of the bytes that are there now is recorded with the completion, and
 * the ingest job copies exactly these to an immutable key: copying 256 MiB has no place in a request, and whatever is
 * put to the still valid address afterwards no longer matches the tag.
 */
export function completeUpload(deps: ApiDeps): Handler {
  const { db, storage } = deps;
  return async ({ customer, id }) => {
    const asset = await markCompleted(db, customer.id, id, ({ stagingKey }) => storage.head(stagingKey));
    deps.ringer.ring(['media']);
    return { body: assetResource(asset), resourceId: asset.id };
  };
}
