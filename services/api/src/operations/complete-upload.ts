import { completeUpload as markCompleted } from '@lipsync/db';
import { assetResource, ServiceError } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';

/**
 * POST /v1/uploads/{id}/complete. Records the entity tag of the bytes that are stored now; the ingest job copies
 * exactly these to an immutable key. Copying up to 256 MiB is too slow for a request, and anything that a client later
 * PUTs to the still valid URL no longer matches the tag.
 */
export function completeUpload({ config, db, storage, ringer }: ApiDeps): Handler {
  return async ({ customer, id, traceParent }) => {
    const inspect = async ({ stagingKey }: { stagingKey: string }) => {
      const signal = AbortSignal.timeout(config.storageWaitMs);
      try {
        const object = await storage.head(stagingKey);
        // A missing bucket, or another owner's, also reports no such object.
        if (object === null) await storage.ping();
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
