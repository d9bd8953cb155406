import { type MeasuredUsage } from '@lipsync/domain';
import { type Prisma } from '@lipsync/prisma';
import { type Db } from '../postgres/db';
import { endPreparation, settleRender } from './end-records';
import { finishJobs, type Lease, withLease } from './job';
import { releaseWaiting } from './waiting-records';

/** What an ingest measured on the bytes that it stored under `objectKey`. */
export interface IngestedMedia {
  objectKey: string;
  sha256: string;
  sizeBytes: number;
  contentType: string;
  durationSeconds: number;
  codec: string;
  width?: number | undefined;
  height?: number | undefined;
  frames?: number | undefined;
  fps?: number | undefined;
  /** What tasks need to know of the stream: an object that JSON can hold. */
  stream: object;
}

interface Analysis {
  version: string;
  analyzerVersion: string;
  frames: number;
  fps: number;
  width: number;
  height: number;
  durationSeconds: number;
}

/**
 * Marks the asset as ready, and queues the jobs whose inputs are thereby complete. Returns false if the claim was lost.
 */
export function completeIngest(db: Db, lease: Lease, media: IngestedMedia): Promise<boolean> {
  return withLease(db, lease, false, async (tx, subject, now) => {
    if (subject.kind !== 'ingest') throw new Error('not an ingest job');
    const { id } = subject.asset;
    await finishJobs(tx, [lease.jobId], null);
    const { width = null, height = null, frames = null, fps = null, stream, ...rest } = media;
    await tx.asset.update({
      where: { id },
      data: {
        ...rest,
        stream: { ...stream },
        width,
        height,
        frames,
        fps,
        status: 'ready',
        stage: 'ready',
        updatedAt: now,
      },
    });
    await releaseWaiting(db, tx, id, now);
    return true;
  });
}

/** Completes the preparation and writes its event. Returns false if the claim was lost. */
export function completeAnalyze(db: Db, lease: Lease, analysis: Analysis): Promise<boolean> {
  return withLease(db, lease, false, async (tx, subject, now) => {
    if (subject.kind !== 'analyze') throw new Error('not an analyze job');
    const { preparation } = subject;
    const video = await tx.asset.findUniqueOrThrow({ where: { id: preparation.videoAssetId } });
    const columns = { ...analysis, videoSha256: video.sha256 };
    await endPreparation(db, tx, preparation, { status: 'completed', analysis: columns }, now);
    return true;
  });
}

/**
 * Completes the engine run. If it was the last open one, also completes the render and writes its event. Returns false
 * if the claim was lost; then nothing refers to the output under `outputKey`.
 */
export function completeRender(
  db: Db,
  lease: Lease,
  result: { outputKey: string; usage: MeasuredUsage },
): Promise<boolean> {
  return withLease(db, lease, false, async (tx, subject, now) => {
    if (subject.kind !== 'render') throw new Error('not a render job');
    await finishJobs(tx, [lease.jobId], null);
    await tx.engineRun.update({
      where: { id: subject.run.id },
      data: {
        status: 'completed',
        stage: 'completed',
        progressPercent: 100,
        outputKey: result.outputKey,
        usage: usageColumn(result.usage),
        updatedAt: now,
      },
    });
    await settleRender(db, tx, subject.render, now);
    return true;
  });
}

/** Omits undefined fields, as JSON does. */
function usageColumn(usage: MeasuredUsage): Prisma.InputJsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));
}
