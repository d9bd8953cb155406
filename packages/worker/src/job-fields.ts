import { type JobIdentity } from '@lipsync/db';
import { type LogFields } from '@lipsync/runtime';

/** What every log line about an attempt at a job begins with, so that it is found by whatever its reader knows. */
export function jobFields(job: JobIdentity): LogFields {
  const { jobId, kind, queue, attempt, fence } = job;
  return {
    ...{ job_id: jobId, kind, queue, attempt, fence },
    customer_id: job.customerId,
    asset_id: job.assetId ?? undefined,
    preparation_id: job.preparationId ?? undefined,
    render_id: job.renderId ?? undefined,
    engine_run_id: job.engineRunId ?? undefined,
  };
}
