import { type JobIdentity } from '@lipsync/db';
import { type LogFields } from '@lipsync/runtime';

/** The fields that begin every log line about an attempt at a job, so that the line is found by any of its ids. */
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
