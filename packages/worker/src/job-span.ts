import { type Claim } from '@lipsync/db';
import { type Span, type Tracing } from '@lipsync/telemetry';

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
