import { type Claim, type JobIdentity, type RecoveredJob } from '@lipsync/db';
import { type LogFields, type Logger } from '@lipsync/runtime';
import { type Metrics, type Span, type Tracing } from '@lipsync/telemetry';

/**
 * How an attempt at a job ended. `lost`: the claim was lost before the end could be recorded. `unrecorded`: the database
 * could not be reached; the lease runs out and the reconciler recovers the job.
 */
export type JobOutcome = 'completed' | 'dropped' | 'released' | 'requeued' | 'failed' | 'lost' | 'unrecorded';

/** The fields that begin every log line about an attempt at a job, so that the line is found by any of its ids. */
export function jobFields(job: JobIdentity): LogFields {
  const { jobId, kind, queue, attempt, fence } = job;
  return {
    job_id: jobId,
    kind,
    queue,
    attempt,
    fence,
    customer_id: job.customerId,
    asset_id: job.assetId ?? undefined,
    preparation_id: job.preparationId ?? undefined,
    render_id: job.renderId ?? undefined,
    engine_run_id: job.engineRunId ?? undefined,
  };
}

/**
 * Writes the one log line about an attempt whose worker, named in it, died before it could report. If that worker is
 * alive after all, it later writes its own `job` line, as for any job that it lost.
 */
export function logRecoveredJob(logger: Logger, job: RecoveredJob): void {
  logger.wide('job_recovered', { ...jobFields(job), worker_id: job.workerId, outcome: job.outcome });
}

/** Metrics of the jobs of this process. */
export function createJobMetrics(metrics: Metrics) {
  const waits = metrics.histogram('queue_wait_seconds');
  const jobs = metrics.counter('jobs_total');
  const durations = metrics.histogram('job_duration_seconds');
  const busy = metrics.gauge('slots_busy');
  busy.set({}, 0);
  return {
    began: ({ queue, waitedSeconds }: Claim): void => {
      waits.observe({ queue }, waitedSeconds);
      busy.add({}, 1);
    },
    ended: ({ queue }: Claim, outcome: JobOutcome, seconds: number, { traceId }: Span): void => {
      busy.add({}, -1);
      jobs.inc({ queue, outcome });
      durations.observe({ queue, outcome }, seconds, traceId);
    },
  };
}

/** Starts the span of a claimed job in the trace of the request that it serves, however long ago that was answered. */
export function startJobSpan(tracing: Tracing, claim: Claim): Span {
  return tracing.startSpan(claim.kind, {
    kind: 'consumer',
    parent: claim.traceParent,
    attributes: {
      'lipsync.job_id': claim.jobId,
      'lipsync.queue': claim.queue,
      'lipsync.attempt': claim.attempt,
      'lipsync.fence': claim.fence,
      'lipsync.queue_wait_seconds': claim.waitedSeconds,
      'lipsync.asset_id': claim.assetId ?? undefined,
      'lipsync.preparation_id': claim.preparationId ?? undefined,
      'lipsync.engine_run_id': claim.engineRunId ?? undefined,
    },
  });
}
