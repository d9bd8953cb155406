import { type ErrorCode } from '@lipsync/contract';
import { type AssetRow, type PreparationRow, renderProgress, type RenderRow } from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import { type Db, type Tx } from './db';
import { endPreparation } from './end-preparation';
import { failOpenRuns } from './end-render';
import { preparationFault } from './preparation-match';
import { advancePreparation, advanceRender } from './record-progress';

/** How far the ingest of one asset has come: 0 to 1 of its fetching. */
export interface IngestStep {
  fraction: number;
}

/** Shows the progress of a locked, pending asset in the open records that wait for it. */
export async function advanceWaiting(tx: Tx, asset: Asset, step: IngestStep, now: Date): Promise<void> {
  for (const render of await lockWaitingRenders(tx, asset.id)) {
    const inputs = await inputsOf(tx, render);
    const fractions = inputs.map((input) => fractionOf(input, asset, step));
    const fetched = inputs.every((input) => input.status === 'ready' || input.stage === 'probing');
    const stage = fetched ? 'validating_inputs' : 'fetching_inputs';
    const fetchFraction = fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
    const progress = renderProgress({ stage, fetchFraction, engines: [] });
    await advanceRender(tx, render, { stage, progress }, now);
  }
  for (const preparation of await lockWaitingPreparations(tx, asset.id)) {
    const stage = asset.stage === 'probing' ? 'validating_inputs' : 'fetching_inputs';
    await advancePreparation(tx, preparation, { stage, fraction: step.fraction }, now);
  }
}

/** After an asset became ready, in the same transaction: queues the jobs that now have all their inputs. */
export async function releaseWaiting(db: Db, tx: Tx, assetId: string, now: Date): Promise<void> {
  for (const render of await lockWaitingRenders(tx, assetId)) {
    // Read under the render's lock: when both inputs become ready at once, the second to come sees the first.
    const [video, audio] = await inputsOf(tx, render);
    if (video?.status !== 'ready' || audio?.status !== 'ready') continue;
    const fault = await preparationFault(tx, render, video, now);
    if (fault) await failOpenRuns(db, tx, render, { errorCode: fault }, now);
    else {
      await tx.$executeRaw`
        UPDATE jobs SET status = 'queued', available_at = ${now}
        WHERE status = 'blocked'
          AND engine_run_id IN (SELECT id FROM engine_runs WHERE render_id = ${render.id})`;
    }
  }
  for (const { id } of await lockWaitingPreparations(tx, assetId)) {
    await tx.$executeRaw`
      UPDATE jobs SET status = 'queued', available_at = ${now}
      WHERE status = 'blocked' AND preparation_id = ${id}`;
  }
}

/** After an asset failed, in the same transaction: everything that waits for it fails with the same code, renders with the input that it was. */
export async function failWaiting(
  db: Db,
  tx: Tx,
  assetId: string,
  errorCode: ErrorCode,
  now: Date,
): Promise<void> {
  for (const render of await lockWaitingRenders(tx, assetId)) {
    const failedInput = render.videoAssetId === assetId ? 'video' : 'audio';
    await failOpenRuns(db, tx, render, { errorCode, failedInput }, now);
  }
  for (const preparation of await lockWaitingPreparations(tx, assetId)) {
    await endPreparation(db, tx, preparation, { status: 'failed', errorCode }, now);
  }
}

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

async function inputsOf(tx: Tx, render: RenderRow): Promise<Asset[]> {
  const { videoAssetId, audioAssetId } = render;
  const assets = await tx.asset.findMany({ where: { id: { in: [videoAssetId, audioAssetId] } } });
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  return [byId.get(videoAssetId), byId.get(audioAssetId)].filter((asset) => asset !== undefined);
}

function fractionOf(
  input: Pick<AssetRow, 'id' | 'status' | 'stage'>,
  current: Asset,
  step: IngestStep,
): number {
  if (input.status === 'ready' || input.stage === 'probing') return 1;
  return input.id === current.id ? step.fraction : 0;
}
