import { type EngineWorkStage, type IngestStage, type PreparationWorkStage } from '@lipsync/domain';
import { type Db, secondsAfter, type Tx } from '../postgres/db';
import { type JobSubject, type Lease, withLease } from './job';
import { advancePreparation, advanceRenderByRuns } from './progress';
import { advanceWaiting } from './waiting-records';

/** The stage of a job. `preparing` is a render job's own analysis of its video, before its engine starts. */
export type JobStage = IngestStage | PreparationWorkStage | EngineWorkStage | 'preparing';

interface Heartbeat {
  leaseSeconds: number;
  stage?: JobStage | undefined;
  /**
   * 0 to 100: of the fetch (ingest), of the present stage (analysis, and a render's `preparing`), or of the whole
   * engine run (a render's other stages).
   */
  progressPercent?: number | undefined;
}

/** An engine reaches 100 % only when its result is stored. */
const UNFINISHED_PERCENT_MAX = 99;

/**
 * Extends the lease and publishes progress, which only ever rises. Returns false if the job was taken over, cancelled
 * or finished; whatever its worker still writes is then void.
 */
export async function heartbeatJob(db: Db, lease: Lease, beat: Heartbeat): Promise<boolean> {
  if (beat.stage === undefined && beat.progressPercent === undefined) {
    return (await extend(db.prisma, lease, beat.leaseSeconds)) === 1;
  }
  return withLease(db, lease, false, async (tx, subject, now) => {
    const leaseUntil = secondsAfter(now, beat.leaseSeconds);
    await tx.job.update({ where: { id: lease.jobId }, data: { leaseUntil } });
    await publish(tx, subject, beat, now);
    return true;
  });
}

function extend(tx: Tx, lease: Lease, leaseSeconds: number): Promise<number> {
  return tx.$executeRaw`
    UPDATE jobs SET lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::float8)
    WHERE id = ${lease.jobId} AND fence = ${lease.fence}::int AND status = 'running'`;
}

async function publish(tx: Tx, subject: JobSubject, beat: Heartbeat, now: Date): Promise<void> {
  const percent = Math.min(100, Math.max(0, beat.progressPercent ?? 0));
  switch (subject.kind) {
    case 'ingest': {
      const stage = beat.stage ?? subject.asset.stage;
      const asset = await tx.asset.update({
        where: { id: subject.asset.id },
        data: stage === subject.asset.stage ? {} : { stage, updatedAt: now },
      });
      return advanceWaiting(tx, asset, percent / 100, now);
    }
    case 'analyze': {
      const stage = isPreparationStage(beat.stage) ? beat.stage : 'analyzing';
      return advancePreparation(tx, subject.preparation, stage, percent / 100, now);
    }
    case 'render':
      return publishRun(tx, subject, beat, percent, now);
  }
}

async function publishRun(
  tx: Tx,
  { run, render }: Extract<JobSubject, { kind: 'render' }>,
  beat: Heartbeat,
  percent: number,
  now: Date,
): Promise<void> {
  const preparing = beat.stage === 'preparing';
  const stage = preparing ? 'loading_model' : (beat.stage ?? run.stage);
  const progressPercent = preparing
    ? run.progressPercent
    : Math.max(run.progressPercent, Math.min(percent, UNFINISHED_PERCENT_MAX));
  if (stage !== run.stage || progressPercent !== run.progressPercent) {
    await tx.engineRun.update({ where: { id: run.id }, data: { stage, progressPercent, updatedAt: now } });
  }
  await advanceRenderByRuns(tx, render, now, preparing ? { fraction: percent / 100 } : null);
}

function isPreparationStage(stage: JobStage | undefined): stage is PreparationWorkStage {
  return stage === 'analyzing' || stage === 'finalizing';
}
