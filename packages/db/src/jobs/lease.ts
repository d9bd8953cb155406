import { type JobRow } from '@lipsync/domain';
import { type Tx } from '../postgres/db';

/** Identifies one claim of one job. Writes with a fence older than the job's change nothing. */
export interface Lease {
  jobId: string;
  fence: number;
}

/** Says whether the locked job still runs under exactly this claim. */
export function isHeld(job: JobRow, lease: Lease): boolean {
  return job.status === 'running' && job.fence === lease.fence;
}

/** Finishes jobs for good. Raising the fence voids whatever their workers still write. */
export async function finishJobs(tx: Tx, jobIds: readonly string[], errorCode: string | null): Promise<void> {
  await tx.$executeRaw`
    UPDATE jobs
    SET status = 'finished', fence = fence + 1, lease_until = NULL,
        last_error_code = COALESCE(${errorCode}, last_error_code)
    WHERE id = ANY(${[...jobIds]}) AND status <> 'finished'`;
}

/** Requeues a running job, to be dispatched again at `availableAt`. */
export async function requeueJob(
  tx: Tx,
  jobId: string,
  change: { availableAt: Date; errorCode: string | null; refundAttempt: boolean },
): Promise<void> {
  const { availableAt, errorCode, refundAttempt } = change;
  await tx.$executeRaw`
    UPDATE jobs
    SET status = 'queued', lease_until = NULL, dispatched_at = NULL, worker_id = NULL,
        available_at = ${availableAt}, attempts = attempts - ${refundAttempt ? 1 : 0}::int,
        last_error_code = COALESCE(${errorCode}, last_error_code)
    WHERE id = ${jobId}`;
}
