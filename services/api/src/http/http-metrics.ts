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
export interface HttpMetrics {
  /** Counts a request whose response was sent or whose caller hung up. */
  ended(request: EndedRequest, status: number, seconds: number): void;
  limited(limit: Limit, verdict: RateVerdict): void;
}

/** Labels are bound at first use, so that a request costs a few look-ups and allocates no objects. */
export function createHttpMetrics(metrics: Metrics): HttpMetrics {
  const durations = metrics.histogram('http_request_duration_seconds');
  const errors = metrics.counter('http_errors_total');
  const replays = metrics.counter('idempotent_replays_total');
  const decisions = metrics.counter('rate_limit_decisions_total');
  const replaysOf = new Map<OperationId | undefined, { inc(): void }>([
    ['create_render', replays.at({ operation: 'create_render' })],
    ['create_preparation', replays.at({ operation: 'create_preparation' })],
  ]);
  const decisionsOf = (limit: Limit) => ({
    allowed: decisions.at({ limit, decision: 'allowed' }),
    refused: decisions.at({ limit, decision: 'refused' }),
    unavailable: decisions.at({ limit, decision: 'unavailable' }),
  });
  const decided = {
    reads: decisionsOf('reads'),
    writes: decisionsOf('writes'),
    failed_auth: decisionsOf('failed_auth'),
  };
  const durationsOf = new Map<string, Map<number, { observe(seconds: number): void }>>();

  function durationOf(operation: OperationId | 'other', status: number): { observe(seconds: number): void } {
    const byStatus = durationsOf.get(operation) ?? new Map<number, { observe(seconds: number): void }>();
    durationsOf.set(operation, byStatus);
    const bound = byStatus.get(status) ?? durations.at({ operation, status: String(status) });
    byStatus.set(status, bound);
    return bound;
  }

  return {
    ended: (request, status, seconds) => {
      const operation = request.operation_id ?? 'other';
      durationOf(operation, status).observe(seconds);
      if (request.error_code !== undefined) errors.inc({ operation, code: request.error_code });
      if (request.idempotent_replayed) replaysOf.get(request.operation_id)?.inc();
    },
    limited: (limit, { counted, allowed }) => {
      decided[limit][counted ? (allowed ? 'allowed' : 'refused') : 'unavailable'].inc();
    },
  };
}
