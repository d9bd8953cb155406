import {
  type Failure,
  type PreparationRow,
  type PreparationWorkStage,
  renderProgress,
  type RenderRow,
  type RenderWorkStage,
} from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import { preparationFault, preparationOf } from '../inputs/preparations';
import { type Db, type Tx } from '../postgres/db';
import { endPreparation, failOpenRuns } from './end-records';
import { advancePreparation, advanceRender } from './progress';

/** Shows the progress of a locked, pending asset, 0 to 1 of its fetch, in the open records that wait for it. */
export async function advanceWaiting(tx: Tx, asset: Asset, fraction: number, now: Date): Promise<void> {
  for (const render of await lockWaitingRenders(tx, asset.id)) {
    const inputs = Object.values(await readInputs(tx, render));
    const stage: RenderWorkStage = inputs.every(isFetched) ? 'validating_inputs' : 'fetching_inputs';
    const fetched = inputs.map((input) => (isFetched(input) ? 1 : input.id === asset.id ? fraction : 0));
    const fetchFraction = fetched.reduce<number>((sum, each) => sum + each, 0) / inputs.length;
    const progress = renderProgress({ stage, fetchFraction, engines: [] });
    await advanceRender(tx, render, { stage, progress }, timeAfter(render, now));
  }
  const stage: PreparationWorkStage = asset.stage === 'probing' ? 'validating_inputs' : 'fetching_inputs';
  for (const preparation of await lockWaitingPreparations(tx, asset.id))
    await advancePreparation(tx, preparation, stage, fraction, timeAfter(preparation, now));
}

function isFetched(input: Asset): boolean {
  return input.status === 'ready' || input.stage === 'probing';
}

/** Queues the jobs that now have all their inputs, in the transaction in which an asset became ready. */
export async function releaseWaiting(db: Db, tx: Tx, assetId: string, now: Date): Promise<void> {
  for (const render of await lockWaitingRenders(tx, assetId)) {
    const changedAt = timeAfter(render, now);
    // Read under the render's lock: if both inputs become ready at once, the second transaction sees the first.
    const { video, audio } = await readInputs(tx, render);
    if (video.status !== 'ready' || audio.status !== 'ready') continue;
    const fault =
      render.preparationId === null ? null : preparationFault(await preparationOf(tx, render), video, now);
    if (fault !== null) {
      await failOpenRuns(db, tx, render, { errorCode: fault }, changedAt);
      continue;
    }
    await tx.$executeRaw`
      UPDATE jobs SET status = 'queued', available_at = ${now}
      WHERE status = 'blocked' AND engine_run_id IN (SELECT id FROM engine_runs WHERE render_id = ${render.id})`;
    // It now waits for a slot of an engine, which may take longer than anything before.
    await advanceRender(tx, render, { stage: 'queued', progress: 0 }, changedAt);
  }
  for (const preparation of await lockWaitingPreparations(tx, assetId)) {
    await tx.$executeRaw`
      UPDATE jobs SET status = 'queued', available_at = ${now}
      WHERE status = 'blocked' AND preparation_id = ${preparation.id}`;
    await advancePreparation(tx, preparation, 'queued', 0, timeAfter(preparation, now));
  }
}

/**
 * Fails everything that waits for an asset, with the asset's error, in the transaction in which the asset failed.
 * Renders also record which input failed.
 */
export async function failWaiting(
  db: Db,
  tx: Tx,
  assetId: string,
  failure: Failure,
  now: Date,
): Promise<void> {
  for (const render of await lockWaitingRenders(tx, assetId)) {
    const failedInput = render.videoAssetId === assetId ? 'video' : 'audio';
    await failOpenRuns(db, tx, render, { ...failure, failedInput }, timeAfter(render, now));
  }
  for (const preparation of await lockWaitingPreparations(tx, assetId))
    await endPreparation(db, tx, preparation, { status: 'failed', failure }, timeAfter(preparation, now));
}

/**
 * `now`, unless this locked record was changed later. `now` was read before it was locked, and the transaction that held
 * it then (the ingest of a render's other input) may have written a later time.
 */
function timeAfter({ updatedAt }: RenderRow | PreparationRow, now: Date): Date {
  return updatedAt > now ? updatedAt : now;
}

/** In the order of their ids, as everywhere. */
async function lockWaitingRenders(tx: Tx, assetId: string): Promise<RenderRow[]> {
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM renders
    WHERE (video_asset_id = ${assetId} OR audio_asset_id = ${assetId}) AND status IN ('accepted', 'processing')
    ORDER BY id FOR UPDATE`;
  return tx.render.findMany({ where: { id: { in: found.map(({ id }) => id) } }, orderBy: { id: 'asc' } });
}

async function lockWaitingPreparations(tx: Tx, assetId: string): Promise<PreparationRow[]> {
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM preparations
    WHERE video_asset_id = ${assetId} AND status IN ('accepted', 'processing')
    ORDER BY id FOR UPDATE`;
  return tx.preparation.findMany({
    where: { id: { in: found.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
}

async function readInputs(tx: Tx, render: RenderRow): Promise<{ video: Asset; audio: Asset }> {
  const { videoAssetId, audioAssetId } = render;
  return {
    video: await tx.asset.findUniqueOrThrow({ where: { id: videoAssetId } }),
    audio: await tx.asset.findUniqueOrThrow({ where: { id: audioAssetId } }),
  };
}
