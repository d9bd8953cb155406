import {
  type AssetRow,
  type EngineRunRow,
  MAX_ATTEMPTS,
  type PreparationRow,
  RECORD_STATES,
  type RenderRow,
  type UploadRow,
} from '@lipsync/domain';
import { assetRow } from '../inputs/assets';
import { uploadRow } from '../inputs/uploads';
import { databaseNow, type Db, secondsAfter, transaction, type Tx } from '../postgres/db';
import {
  type JobIdentity,
  jobIdentity,
  type JobSubject,
  lockSubject,
  type RecoveredJob,
  recoveredJob,
} from './job';
import { advancePreparation, advanceRenderByRuns } from './progress';
import { advanceWaiting } from './waiting-records';

/** A job that this worker now owns until its lease runs out. */
export interface Claim extends JobIdentity {
  /** How long the job was ready to run before this claim. */
  waitedSeconds: number;
  /** W3C trace context of the request that the job serves; null if that is not traced. */
  traceParent: string | null;
  /** The previous attempt, if its worker let the lease run out and the job was not requeued before this claim. */
  takenFrom: RecoveredJob | null;
}

/**
 * Claims a job that is queued and due, or whose worker let its lease run out. Exactly one of any number of claimers
 * gets it, with a greater fence than all earlier claims. The attempt counts from here, so that a job that kills its
 * worker cannot do so forever. The job's subject becomes `processing`. Returns null if the job cannot be claimed; the
 * caller must leave it alone, because it is another worker's, not due yet or finished.
 */
export function claimJob(
  db: Db,
  jobId: string,
  options: { workerId: string; leaseSeconds: number },
): Promise<Claim | null> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, jobId);
    if (subject === null) return null;
    const { job } = subject;
    const now = await databaseNow(tx);
    const due = job.status === 'queued' && job.availableAt <= now;
    const abandoned = job.status === 'running' && job.leaseUntil !== null && job.leaseUntil < now;
    if (!(due || abandoned) || job.attempts >= MAX_ATTEMPTS) return null;
    const claimed = await tx.job.update({
      where: { id: jobId },
      data: {
        status: 'running',
        attempts: job.attempts + 1,
        fence: job.fence + 1,
        leaseUntil: secondsAfter(now, options.leaseSeconds),
        workerId: options.workerId,
      },
    });
    await begin(tx, subject, now);
    return {
      ...jobIdentity({ ...subject, job: claimed }),
      waitedSeconds: secondsBetween(due ? job.availableAt : (job.leaseUntil ?? now), now),
      traceParent: traceOf(subject),
      takenFrom: abandoned ? recoveredJob(subject, 'claimed') : null,
    };
  });
}

function traceOf(subject: JobSubject): string | null {
  switch (subject.kind) {
    case 'ingest':
      return subject.asset.traceParent;
    case 'analyze':
      return subject.preparation.traceParent;
    case 'render':
      return subject.render.traceParent;
  }
}

function secondsBetween(earlier: Date, later: Date): number {
  return Math.max(0, (later.getTime() - earlier.getTime()) / 1000);
}

/** Shows the customer that work has begun. */
async function begin(tx: Tx, subject: JobSubject, now: Date): Promise<void> {
  switch (subject.kind) {
    case 'ingest': {
      const stage = subject.asset.sourceUrl === null ? 'verifying' : 'downloading';
      const where = { id: subject.asset.id, status: 'pending' };
      const [asset] = await tx.asset.updateManyAndReturn({ where, data: { stage, updatedAt: now } });
      if (asset) await advanceWaiting(tx, asset, 0, now);
      return;
    }
    case 'analyze':
      return advancePreparation(tx, subject.preparation, 'analyzing', 0, now);
    case 'render':
      await tx.engineRun.updateMany({
        where: { id: subject.run.id, status: { in: [...RECORD_STATES.open] } },
        data: { status: 'processing', stage: 'loading_model', updatedAt: now },
      });
      return advanceRenderByRuns(tx, subject.render, now);
  }
}

export interface IngestWork {
  asset: AssetRow;
  /** The upload that fills the asset; null if it is fetched from its URL. */
  upload: UploadRow | null;
}

interface AnalyzeWork {
  preparation: PreparationRow;
  video: AssetRow;
}

interface RenderWork {
  run: EngineRunRow;
  render: RenderRow;
  video: AssetRow;
  audio: AssetRow;
  /** The preparation whose face track to use; null to analyze the video. */
  preparation: PreparationRow | null;
}

/** The data that the ingest job of this asset works on. The row exists, because its job was claimed. */
export async function loadIngestWork(db: Db, assetId: string): Promise<IngestWork> {
  const [asset, upload] = await Promise.all([
    db.prisma.asset.findUniqueOrThrow({ where: { id: assetId } }),
    db.prisma.upload.findUnique({ where: { assetId } }),
  ]);
  return { asset: assetRow(asset), upload: upload && uploadRow(upload) };
}

/** The data that the analyze job of this preparation works on. */
export async function loadAnalyzeWork(db: Db, preparationId: string): Promise<AnalyzeWork> {
  const preparation = await db.prisma.preparation.findUniqueOrThrow({ where: { id: preparationId } });
  const video = await db.prisma.asset.findUniqueOrThrow({ where: { id: preparation.videoAssetId } });
  return { preparation, video: assetRow(video) };
}

/** The data that the render job of this engine run works on. */
export async function loadRenderWork(db: Db, engineRunId: string): Promise<RenderWork> {
  const { prisma } = db;
  const run = await prisma.engineRun.findUniqueOrThrow({ where: { id: engineRunId } });
  const render = await prisma.render.findUniqueOrThrow({ where: { id: run.renderId } });
  const { videoAssetId, audioAssetId, preparationId } = render;
  const [video, audio, preparation] = await Promise.all([
    prisma.asset.findUniqueOrThrow({ where: { id: videoAssetId } }),
    prisma.asset.findUniqueOrThrow({ where: { id: audioAssetId } }),
    preparationId === null ? null : prisma.preparation.findUnique({ where: { id: preparationId } }),
  ]);
  return { run, render, video: assetRow(video), audio: assetRow(audio), preparation };
}
