import { isId, RECORD_STATES, ServiceError } from '@lipsync/domain';
import { customerTransaction } from '../customers/customer-transaction';
import { cancelOpenRuns } from '../jobs/end-render';
import { lockRender } from '../jobs/job-subject';
import { databaseNow } from '../postgres/database-clock';
import { type Db } from '../postgres/db';
import { findRenders, type RenderDetails } from './renders';

export interface Cancellation extends RenderDetails {
  /** Jobs that a worker may be running. Notify it, so that it stops at once. */
  cancelledJobIds: string[];
}

/**
 * Cancels a render at once: after this returns, no engine of it can complete. Cancelling a cancelled render changes
 * nothing.
 * @throws ServiceError render_not_found, render_expired or render_not_cancellable
 */
export async function cancelRender(db: Db, customerId: string, renderId: string): Promise<Cancellation> {
  const cancelledJobIds = await customerTransaction(db, customerId, async (tx) => {
    const owned =
      isId('ren', renderId) && (await tx.render.count({ where: { id: renderId, customerId } })) === 1;
    const render = owned ? await lockRender(tx, renderId) : null;
    if (render === null) throw new ServiceError('render_not_found');
    const now = await databaseNow(tx);
    if (render.expiresAt <= now) throw new ServiceError('render_expired');
    if (render.status === 'cancelled') return [];
    if (!RECORD_STATES.canMove(RECORD_STATES.parse(render.status), 'cancelled')) {
      throw new ServiceError('render_not_cancellable');
    }
    return cancelOpenRuns(db, tx, render, now);
  });
  // A cancelled render does not change any more, so its locks need not be held for this.
  const [found] = await findRenders(db, [{ customerId, renderId }]);
  if (!found) throw new ServiceError('render_not_found');
  return { ...found.details, cancelledJobIds };
}
