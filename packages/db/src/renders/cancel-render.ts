import { type ErrorCode } from '@lipsync/contract';
import {
  type Failure,
  isId,
  isServiceError,
  RECORD_STATES,
  type RenderRow,
  ServiceError,
} from '@lipsync/domain';
import { type Act, recordAct } from '../audit/audit-log';
import { customerTransaction } from '../customers/customer-transaction';
import { cancelOpenRuns } from '../jobs/end-records';
import { finishJobs } from '../jobs/job';
import { databaseNow, type Db, type Tx } from '../postgres/db';
import { findRender, type RenderDetails } from './get-render';

interface Cancellation extends RenderDetails {
  /** Jobs that a worker may be running. Notify it, so that it stops at once. */
  cancelledJobIds: string[];
}

/** The error of an asset that is not fetched any more; whoever wants it creates another one. */
const DOWNLOAD_STOPPED: Failure = {
  errorCode: 'media_download_failed',
  errorDetail: 'The download was stopped because the render that it was for was cancelled.',
};

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
    const downloads = await lockDownloads(tx, named);
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
    for (const download of downloads) {
      if (await isAwaited(tx, download.assetId)) continue;
      await finishJobs(tx, [download.jobId], DOWNLOAD_STOPPED.errorCode);
      await tx.asset.update({
        where: { id: download.assetId, customerId },
        data: { status: 'failed', stage: 'failed', ...DOWNLOAD_STOPPED, updatedAt: now },
      });
    }
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

/** Locks the unfinished downloads of the URLs that the render was created with. */
async function lockDownloads(tx: Tx, render: RenderRow): Promise<{ jobId: string; assetId: string }[]> {
  const inputs = [render.videoAssetId, render.audioAssetId];
  await tx.$queryRaw`
    SELECT id FROM jobs
    WHERE asset_id = ANY(${inputs}) AND customer_id = ${render.customerId} AND status <> 'finished'
    ORDER BY id FOR UPDATE`;
  // Assets that the create itself made have its time; all others are older.
  return tx.$queryRaw`
    SELECT jobs.id AS "jobId", assets.id AS "assetId" FROM assets JOIN jobs ON jobs.asset_id = assets.id
    WHERE assets.id = ANY(${inputs}) AND assets.customer_id = ${render.customerId}
      AND assets.created_at = ${render.createdAt} AND assets.status = 'pending' AND jobs.status <> 'finished'
    ORDER BY assets.id FOR UPDATE OF assets`;
}

/** Says whether an open record waits for a locked asset. The lock keeps others from referring to it meanwhile. */
async function isAwaited(tx: Tx, assetId: string): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ awaited: boolean }[]>`
    SELECT EXISTS (SELECT FROM renders
        WHERE (video_asset_id = ${assetId} OR audio_asset_id = ${assetId}) AND status IN ('accepted', 'processing'))
      OR EXISTS (SELECT FROM preparations
        WHERE video_asset_id = ${assetId} AND status IN ('accepted', 'processing')) AS awaited`;
  return row?.awaited === true;
}
