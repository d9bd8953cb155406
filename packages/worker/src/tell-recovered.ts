import { type RecoveredJob } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';
import { jobFields } from './job-fields';

/**
 * The one line about an attempt that its worker, named here, did not live to tell of. A worker that is alive after all
 * writes its own `job` line later, as for a job that it lost.
 */
export function tellRecovered(logger: Logger, job: RecoveredJob): void {
  logger.wide('job_recovered', { ...jobFields(job), worker_id: job.workerId, outcome: job.outcome });
}
