import { type ErrorCode } from '@lipsync/contract';
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
