import { type Failure, type PreparationRow, type RenderRow } from '@lipsync/domain';
import { finishJobs } from '../jobs/job';
import { type Tx } from '../postgres/db';

interface Download {
  readonly customerId: string;
  readonly jobId: string;
  readonly assetId: string;
}

/** Locks the unfinished downloads of the URLs that a record was created with. They are among its inputs. */
export async function lockDownloads(
  tx: Tx,
  { customerId, createdAt }: Pick<RenderRow | PreparationRow, 'customerId' | 'createdAt'>,
  inputs: readonly string[],
): Promise<Download[]> {
  await tx.$queryRaw`
    SELECT id FROM jobs WHERE asset_id = ANY(${inputs}) AND customer_id = ${customerId} AND status <> 'finished'
    ORDER BY id FOR UPDATE`;
  // Assets that the create itself made have its time; all others are older.
  return tx.$queryRaw`
    SELECT assets.customer_id AS "customerId", jobs.id AS "jobId", assets.id AS "assetId"
    FROM assets JOIN jobs ON jobs.asset_id = assets.id
    WHERE assets.id = ANY(${inputs}) AND assets.customer_id = ${customerId}
      AND assets.created_at = ${createdAt} AND assets.status = 'pending' AND jobs.status <> 'finished'
    ORDER BY assets.id FOR UPDATE OF assets`;
}

/**
 * Stops locked downloads, except those that another open record waits for.
 * @param why what became of the record that they were for, shown with the asset
 */
export async function stopDownloads(
  tx: Tx,
  downloads: readonly Download[],
  why: string,
  now: Date,
): Promise<void> {
  const failure: Failure = {
    errorCode: 'media_download_failed',
    errorDetail: `The download was stopped because the ${why}.`,
  };
  for (const { customerId, jobId, assetId } of downloads) {
    if (await isAwaited(tx, assetId)) continue;
    await finishJobs(tx, [jobId], failure.errorCode);
    const data = { status: 'failed', stage: 'failed', ...failure, updatedAt: now };
    await tx.asset.update({ where: { id: assetId, customerId }, data });
  }
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
