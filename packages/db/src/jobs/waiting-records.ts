import {
  type AssetRow,
  type Failure,
  type PreparationRow,
  type PreparationWorkStage,
  renderProgress,
  type RenderRow,
  type RenderWorkStage,
} from '@lipsync/domain';
import { type Asset } from '@lipsync/prisma';
import { preparationFault, readNamedPreparations } from '../inputs/preparations';
import { type Db, type Tx } from '../postgres/db';
import { endPreparation, failOpenRuns, idsOf } from './end-records';
import { advancePreparations, advanceRenders } from './progress';

/** How far the ingest of one asset has come. The fraction of the fetch is 0 to 1. */
interface IngestStep {
  fraction: number;
}

/** Shows the progress of a locked, pending asset in the open records that wait for it. */
export async function advanceWaiting(tx: Tx, asset: Asset, step: IngestStep, now: Date): Promise<void> {
  const renders = await lockWaitingRenders(tx, asset.id);
  const inputsOf = await readInputs(tx, renders);
  const steps = renders.map((render) => {
    const inputs = Object.values(inputsOf(render));
    const fractions = inputs.map((input) => fractionOf(input, asset, step));
    const fetched = inputs.every((input) => input.status === 'ready' || input.stage === 'probing');
    const stage: RenderWorkStage = fetched ? 'validating_inputs' : 'fetching_inputs';
    const fetchFraction = fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
    return { render, stage, progress: renderProgress({ stage, fetchFraction, engines: [] }) };
  });
  await advanceRenders(tx, steps, timeAfter(renders, now));
  const stage: PreparationWorkStage = asset.stage === 'probing' ? 'validating_inputs' : 'fetching_inputs';
  const preparations = await lockWaitingPreparations(tx, asset.id);
  await advancePreparations(
    tx,
    preparations.map((preparation) => ({ preparation, stage, fraction: step.fraction })),
    timeAfter(preparations, now),
  );
}

/** Queues the jobs that now have all their inputs, in the transaction in which an asset became ready. */
export async function releaseWaiting(db: Db, tx: Tx, assetId: string, now: Date): Promise<void> {
  const renders = await lockWaitingRenders(tx, assetId);
  // Read under the renders' locks: if both inputs become ready at once, the second transaction sees the first.
  const inputsOf = await readInputs(tx, renders);
  const preparationOf = await readNamedPreparations(tx, renders);
  const released: RenderRow[] = [];
  for (const render of renders) {
    const { video, audio } = inputsOf(render);
    if (video.status !== 'ready' || audio.status !== 'ready') continue;
    const fault = render.preparationId === null ? null : preparationFault(preparationOf(render), video, now);
    if (fault === null) released.push(render);
    else await failOpenRuns(db, tx, [render], { errorCode: fault }, timeAfter([render], now));
  }
  await tx.$executeRaw`
    UPDATE jobs SET status = 'queued', available_at = ${now}
    WHERE status = 'blocked'
      AND engine_run_id IN (SELECT id FROM engine_runs WHERE render_id = ANY(${idsOf(released)}))`;
  // They now wait for a slot of an engine, which may take longer than anything before.
  await advanceRenders(
    tx,
    released.map((render) => ({ render, stage: 'queued', progress: 0 })),
    timeAfter(released, now),
  );
  const preparations = await lockWaitingPreparations(tx, assetId);
  await tx.$executeRaw`
    UPDATE jobs SET status = 'queued', available_at = ${now}
    WHERE status = 'blocked' AND preparation_id = ANY(${idsOf(preparations)})`;
  await advancePreparations(
    tx,
    preparations.map((preparation) => ({ preparation, stage: 'queued', fraction: 0 })),
    timeAfter(preparations, now),
  );
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
  const renders = await lockWaitingRenders(tx, assetId);
  // An asset is either video or audio, so it is the same input of all these renders.
  const failedInput = renders.some(({ videoAssetId }) => videoAssetId === assetId) ? 'video' : 'audio';
  await failOpenRuns(db, tx, renders, { ...failure, failedInput }, timeAfter(renders, now));
  for (const preparation of await lockWaitingPreparations(tx, assetId)) {
    await endPreparation(db, tx, preparation, { status: 'failed', failure }, timeAfter([preparation], now));
  }
}

/**
 * `now`, unless one of these locked records was changed later. `now` was read before they were locked, and whoever held
 * one of them then (the ingest of a render's other input) may have written a later time.
 */
function timeAfter(records: readonly { readonly updatedAt: Date }[], now: Date): Date {
  return new Date(Math.max(now.getTime(), ...records.map(({ updatedAt }) => updatedAt.getTime())));
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

/** The inputs of each of these renders. */
async function readInputs(
  tx: Tx,
  renders: readonly RenderRow[],
): Promise<(render: RenderRow) => { video: Asset; audio: Asset }> {
  const ids = new Set(renders.flatMap(({ videoAssetId, audioAssetId }) => [videoAssetId, audioAssetId]));
  const assets = await tx.asset.findMany({ where: { id: { in: [...ids] } } });
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  const input = (id: string): Asset => {
    const asset = byId.get(id);
    if (asset === undefined) throw new Error(`${id} is an input of an open render and is not there`);
    return asset;
  };
  return ({ videoAssetId, audioAssetId }) => ({ video: input(videoAssetId), audio: input(audioAssetId) });
}

function fractionOf(
  input: Pick<AssetRow, 'id' | 'status' | 'stage'>,
  current: Asset,
  step: IngestStep,
): number {
  if (input.status === 'ready' || input.stage === 'probing') return 1;
  return input.id === current.id ? step.fraction : 0;
}
