import { type ErrorCode } from '@lipsync/contract';
import { isId, isServiceError, RECORD_STATES, ServiceError } from '@lipsync/domain';
import { type Act, recordAct } from '../audit/audit-log';
import { customerTransaction } from '../customers/customer-transaction';
import { lockDownloads, stopDownloads } from '../inputs/downloads';
import { cancelOpenRuns } from '../jobs/end-records';
import { databaseNow, type Db } from '../postgres/db';
import { findRender, type RenderDetails } from './get-render';

interface Cancellation extends RenderDetails {
  /** Jobs that a worker may be running. Notify it, so that it stops at once. */
  cancelledJobIds: string[];
}

/**
 * Cancels a render at once: after this returns, no engine of it can complete. Also stops the downloads of its URLs,
 * unless another record waits for them; a worker learns of that from its next heartbeat. Cancelling a cancelled render
 * changes nothing. It is on record as the act of an operator, if it is one.
 * @throws ServiceError render_not_found, render_expired or render_not_cancellable
 */
export async function cancelRender(
  db: Db,
  customerId: string,
  renderId: string,
  act?: Act,
): Promise<Cancellation> {
  const cancelledJobIds = await customerTransaction(db, customerId, async (tx) => {
    const named = isId('ren', renderId)
      ? await tx.render.findUnique({ where: { id: renderId, customerId } })
      : null;
    if (named === null) throw new ServiceError('render_not_found');
    // In the order of locks, an ingest comes before the records that wait for it.
    const downloads = await lockDownloads(tx, named, [named.videoAssetId, named.audioAssetId]);
    await tx.$queryRaw`SELECT id FROM renders WHERE id = ${renderId} AND customer_id = ${customerId} FOR UPDATE`;
    const render = await tx.render.findUnique({ where: { id: renderId, customerId } });
    if (render === null) throw new ServiceError('render_not_found');
    const now = await databaseNow(tx);
    if (render.expiresAt <= now) throw new ServiceError('render_expired');
    if (render.status === 'cancelled') return [];
    if (!RECORD_STATES.canMove(RECORD_STATES.parse(render.status), 'cancelled')) {
      throw new ServiceError('render_not_cancellable');
    }
    const jobIds = await cancelOpenRuns(db, tx, render, now);
    if (act !== undefined) await recordAct(db, tx, act, { customerId, subjectId: renderId });
    await stopDownloads(tx, downloads, 'render that it was for was cancelled', now);
    return jobIds;
  });
  // A cancelled render does not change any more, so its locks need not be held for this.
  const found = await findRender(db, customerId, renderId);
  if (found === null) throw new ServiceError('render_not_found');
  return { ...found.details, cancelledJobIds };
}

/**
 * Cancels every open render of a customer, one after the other; may be interrupted and repeated. Returns how many it
 * cancelled.
 */
export async function cancelOpenRenders(db: Db, customerId: string, act: Act): Promise<number> {
  const where = { customerId, status: { in: [...RECORD_STATES.open] } };
  const open = await db.prisma.render.findMany({ where, orderBy: { id: 'asc' }, select: { id: true } });
  let cancelled = 0;
  for (const { id } of open) {
    try {
      await cancelRender(db, customerId, id, act);
      cancelled += 1;
    } catch (error) {
      // It has ended in the meantime, or is about to: nothing of it runs any more.
      if (!isServiceError(error) || !ENDED.has(error.code)) throw error;
    }
  }
  return cancelled;
}

const ENDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'render_not_found',
  'render_expired',
  'render_not_cancellable',
]);
