import { type ErrorCode, type OperationId } from '@lipsync/contract';
import { type RateVerdict } from '@lipsync/queue';
import { type Metrics } from '@lipsync/telemetry';

export type Limit = 'reads' | 'writes' | 'failed_auth';

interface EndedRequest {
  operation_id?: OperationId;
  error_code?: ErrorCode;
  idempotent_replayed?: boolean;
}

/** Totals over the requests of this process. */
export type HttpMetrics = ReturnType<typeof createHttpMetrics>;

export function createHttpMetrics(metrics: Metrics) {
  const durations = metrics.histogram('http_request_duration_seconds');
  const errors = metrics.counter('http_errors_total');
  const replays = metrics.counter('idempotent_replays_total');
  const decisions = metrics.counter('rate_limit_decisions_total');
  return {
    /** Counts a request whose response was sent or whose caller hung up. */
    ended: (request: EndedRequest, status: number, seconds: number, traceId: string | undefined): void => {
      const operation = request.operation_id ?? 'other';
      durations.observe({ operation, status: String(status) }, seconds, traceId);
      if (request.error_code !== undefined) errors.inc({ operation, code: request.error_code });
      const creates = operation === 'create_render' || operation === 'create_preparation';
      if (creates && request.idempotent_replayed) replays.inc({ operation });
    },
    limited: (limit: Limit, { counted, allowed }: RateVerdict): void => {
      decisions.inc({ limit, decision: counted ? (allowed ? 'allowed' : 'refused') : 'unavailable' });
    },
  };
}
