import { cancelRender as markCancelled } from '@lipsync/db';
import { type ApiDeps } from '../api-deps';
import { viewRender } from './get-render';
import { type Handler } from './operation';

/** POST /v1/renders/{id}/cancel */
export function cancelRender(deps: ApiDeps): Handler {
  const { db, queues, logger } = deps;
  return async ({ customer, id }) => {
    const cancelled = await markCancelled(db, customer.id, id);
    // Only a shortcut: a worker that misses the signal learns of the cancellation from its next heartbeat.
    if (cancelled.cancelledJobIds.length > 0) {
      queues.signalCancel(cancelled.cancelledJobIds).catch((error: unknown) => {
        logger.warn('could not signal a cancellation', { resource_id: cancelled.render.id, error });
      });
    }
    return { body: await viewRender(deps, cancelled), resourceId: cancelled.render.id };
  };
}
