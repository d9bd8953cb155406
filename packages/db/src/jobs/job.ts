import { type ErrorCode } from '@lipsync/contract';
import { type EngineRunRow, type JobRow } from '@lipsync/domain';
import { type Asset, type Preparation, type Render } from '@lipsync/prisma';
import { databaseNow, type Db, transaction, type Tx } from '../postgres/db';
import { type JobKind, jobKind, type QueueName, queueName } from '../queue/queues';

/** A job with the rows it works on, locked in the order given below. */
export type JobSubject =
  | { kind: 'ingest'; job: JobRow; asset: Asset }
  | { kind: 'analyze'; job: JobRow; preparation: Preparation }
  | { kind: 'render'; job: JobRow; run: EngineRunRow; render: Render };

/**
 * Locks the rows that a change of this job may touch. Everything in this package takes locks in one order
 * (docs/locks.md), so that transactions cannot deadlock: ingest job → asset → renders by id → preparations by
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

/** Identifies one claim of one job. Writes with a fence older than the job's change nothing. */
export interface Lease {
  jobId: string;
  fence: number;
}

/** Says whether the locked job still runs under exactly this claim. */
function isHeld(job: JobRow, lease: Lease): boolean {
  return job.status === 'running' && job.fence === lease.fence;
}

/** Finishes jobs for good. Raising the fence voids whatever their workers still write. */
export async function finishJobs(
  tx: Tx,
  jobIds: readonly string[],
  errorCode: ErrorCode | null,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE jobs
    SET status = 'finished', fence = fence + 1, lease_until = NULL,
        last_error_code = COALESCE(${errorCode}, last_error_code)
    WHERE id = ANY(${[...jobIds]}) AND status <> 'finished'`;
}

/** Runs `change` under the locks of the job's subject if the claim still holds, otherwise returns `otherwise`. */
export function withLease<T>(
  db: Db,
  lease: Lease,
  otherwise: T,
  change: (tx: Tx, subject: JobSubject, now: Date) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, lease.jobId);
    if (subject === null || !isHeld(subject.job, lease)) return otherwise;
    return change(tx, subject, await databaseNow(tx));
  });
}

/** Identifies one attempt at a job, its customer, and the resource that it serves. */
export interface JobIdentity extends Lease {
  kind: JobKind;
  queue: QueueName;
  customerId: string;
  /** From 1, at most MAX_ATTEMPTS. */
  attempt: number;
  assetId: string | null;
  preparationId: string | null;
  engineRunId: string | null;
  /** The render of the engine run, by the id that the customer knows. */
  renderId: string | null;
}

/** An attempt that its worker abandoned: it was silent for longer than its lease. */
export interface RecoveredJob extends JobIdentity {
  /** The worker that had claimed it; the job's row no longer says so. */
  workerId: string | null;
  /** What happened to the job. `claimed`: another worker claimed it before it was requeued. */
  outcome: 'requeued' | 'failed' | 'claimed';
}

export function jobIdentity(subject: JobSubject): JobIdentity {
  const { id, kind, queue, fence, attempts, customerId, assetId, preparationId, engineRunId } = subject.job;
  return {
    jobId: id,
    fence,
    customerId,
    attempt: attempts,
    kind: jobKind(kind),
    queue: queueName(queue),
    assetId,
    preparationId,
    engineRunId,
    renderId: subject.kind === 'render' ? subject.render.id : null,
  };
}

/** Describes an abandoned job as it was before the recovery. */
export function recoveredJob(subject: JobSubject, outcome: RecoveredJob['outcome']): RecoveredJob {
  return { ...jobIdentity(subject), workerId: subject.job.workerId, outcome };
}
