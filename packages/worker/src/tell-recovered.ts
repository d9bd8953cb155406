import { type RecoveredJob } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';
import { jobFields } from './job-fields';

/**
 * Writes the one log line about an attempt whose worker, named in it, died before it could report. If that worker is
 * alive after all, it later writes its own `job` line, as for any job that it lost.
 */
export function tellRecovered(logger: Logger, job: RecoveredJob): void {
  logger.wide('job_recovered', { ...jobFields(job), worker_id: job.workerId, outcome: job.outcome });
}
