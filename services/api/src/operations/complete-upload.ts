import { completeUpload as markCompleted } from '@lipsync/db';
import { assetResource, ServiceError } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';

/**
 * POST /v1/uploads/{id}/complete. Records the entity tag of the current bytes with the completion. The ingest job
 * copies exactly these bytes to an immutable key, because a request is no place to copy 256 MiB. Bytes put to the still
 * valid address afterwards no longer match the tag.
 */
export function completeUpload({ config, db, storage, enqueuer }: ApiDeps): Handler {
  return async ({ customer, id, traceParent }) => {
    const inspect = async ({ stagingKey }: { stagingKey: string }) => {
      const signal = AbortSignal.timeout(config.storageWaitMs);
      try {
        const object = await storage.head(stagingKey, { signal });
        // A bucket that is missing or not this service's also yields no object.
        if (object === null) await storage.ping({ signal });
        return object;
      } catch (cause) {
        throw new ServiceError('service_unavailable', { cause });
      }
    };
    const asset = await markCompleted(db, customer.id, id, inspect, traceParent);
    enqueuer.enqueueSoon(['media']);
    return { body: assetResource(asset), resourceId: asset.id };
  };
}
