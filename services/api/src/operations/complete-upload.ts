import { completeUpload as markCompleted } from '@lipsync/db';
import { assetResource, ServiceError } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';

/**
 * POST /v1/uploads/{id}/complete. The entity tag of the bytes that are there now is recorded with the completion, and
 * the ingest job copies exactly these to an immutable key: copying 256 MiB has no place in a request, and whatever is
 * put to the still valid address afterwards no longer matches the tag.
 */
export function completeUpload({ config, db, storage, ringer }: ApiDeps): Handler {
  return async ({ customer, id, traceParent }) => {
    const inspect = async ({ stagingKey }: { stagingKey: string }) => {
      const signal = AbortSignal.timeout(config.storageWaitMs);
      try {
        const object = await storage.head(stagingKey, { signal });
        // In a bucket that is not there, or not this service's, no object is found either.
        if (object === null) await storage.ping({ signal });
        return object;
      } catch (cause) {
        throw new ServiceError('service_unavailable', { cause });
      }
    };
    const asset = await markCompleted(db, customer.id, id, inspect, traceParent);
    ringer.ring(['media']);
    return { body: assetResource(asset), resourceId: asset.id };
  };
}
