import { type EngineRunRow, type JobRow } from '@lipsync/domain';
import { type Asset, type Preparation, type Render } from '@lipsync/prisma';
import { type Tx } from '../postgres/db';

/** A job with the rows it works on, locked in the order given below. */
export type JobSubject =
  | { kind: 'ingest'; job: JobRow; asset: Asset }
  | { kind: 'analyze'; job: JobRow; preparation: Preparation }
  | { kind: 'render'; job: JobRow; run: EngineRunRow; render: Render };

/**
 * Locks the rows that a change of this job may touch. Everything in this package takes locks in one order
 * (ARCHITECTURE.md, Locks), so that transactions cannot deadlock: ingest job → asset → renders by id → preparations by
 * id → their jobs → engine runs. Creates come first, with an idempotency key, a shared lock on an asset and the
 * customer's count of records. Returns null if the job does not exist.
 */
export async function lockSubject(tx: Tx, jobId: string): Promise<JobSubject | null> {
  const found = await tx.job.findUnique({ where: { id: jobId } });
  if (found === null) return null;
  const { assetId, preparationId, engineRunId } = found;
  if (engineRunId !== null) {
    const { renderId } = await tx.engineRun.findUniqueOrThrow({ where: { id: engineRunId } });
    const render = await lockRender(tx, renderId);
    if (render === null) return null;
    const job = await lockJob(tx, jobId);
    const run = await tx.engineRun.findUniqueOrThrow({ where: { id: engineRunId } });
    return { kind: 'render', job, run, render };
  }
  if (preparationId !== null) {
    const preparation = await lockPreparation(tx, preparationId);
    if (preparation === null) return null;
    return { kind: 'analyze', job: await lockJob(tx, jobId), preparation };
  }
  if (assetId === null) return null;
  const job = await lockJob(tx, jobId);
  await tx.$queryRaw`SELECT id FROM assets WHERE id = ${assetId} FOR UPDATE`;
  return { kind: 'ingest', job, asset: await tx.asset.findUniqueOrThrow({ where: { id: assetId } }) };
}

export async function lockRender(tx: Tx, renderId: string): Promise<Render | null> {
  await tx.$queryRaw`SELECT id FROM renders WHERE id = ${renderId} FOR UPDATE`;
  return tx.render.findUnique({ where: { id: renderId } });
}

export async function lockPreparation(tx: Tx, preparationId: string): Promise<Preparation | null> {
  await tx.$queryRaw`SELECT id FROM preparations WHERE id = ${preparationId} FOR UPDATE`;
  return tx.preparation.findUnique({ where: { id: preparationId } });
}

async function lockJob(tx: Tx, jobId: string): Promise<JobRow> {
  await tx.$queryRaw`SELECT id FROM jobs WHERE id = ${jobId} FOR UPDATE`;
  return tx.job.findUniqueOrThrow({ where: { id: jobId } });
}
