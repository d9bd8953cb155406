import {
  claimDeliveries,
  type ClaimedDelivery,
  databaseNow,
  type Db,
  type DeliveryOutcome,
  type DeliveryState,
  type EndedDelivery,
  settleDelivered,
  settleUndelivered,
} from '@lipsync/db';
import { WEBHOOK_ATTEMPTS_PER_ORIGIN } from '@lipsync/domain';
import {
  batchCalls,
  type Clock,
  type Egress,
  type LogFields,
  type Logger,
  type SecretBox,
} from '@lipsync/runtime';
import { countTurns, type Telemetry } from '@lipsync/telemetry';
import { type ClockGuard, createClockGuard } from './clock-guard';
import { createDispatchLoop, type DispatchLoop } from './dispatch-loop';
import { createDispatchMetrics } from './dispatch-metrics';
import { type Attempt, sendDelivery } from './send-delivery';
import { settlePersistently } from './settle-persistently';

export interface DispatcherOptions {
  db: Db;
  egress: Pick<Egress, 'post'>;
  secretBox: Pick<SecretBox, 'open'>;
  clock: Clock;
  logger: Logger;
  telemetry: Telemetry;
  /** Maximum deliveries in flight. */
  slots: number;
  /** Maximum deliveries in flight for one customer, across all dispatchers. */
  perCustomer: number;
  /** Delays after failed attempts. */
  delaysSeconds: readonly number[];
  pollMs?: number;
  /** How long a claim holds; longer than an attempt and its settlement. */
  leaseSeconds?: number;
  /** Time limit of a whole attempt. */
  timeoutMs?: number;
}

export interface Dispatcher extends DispatchLoop {
  readonly clockGuard: ClockGuard;
}

/**
 * While nothing else happens, a due delivery waits half of this on average; a claim that finds nothing costs one query.
 */
const POLL_MS = 100;
const LEASE_SECONDS = 30;
/** How long to wait after a fault on this side. */
const DEFER_SECONDS = 60;

/** Successes that arrive together are written together. */
const SETTLEMENTS = { max: 64, inFlight: 1 };

type Claimed = Pick<ClaimedDelivery, 'id' | 'claimToken'>;
type Success = Claimed & { httpStatus: number };

/**
 * Claims due deliveries from the database and processes each: sign, send, settle, one log line. A delivery that a claim
 * found to be over also gets one line.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, logger, clock, slots, perCustomer, delaysSeconds, telemetry } = options;
  const metrics = createDispatchMetrics(telemetry.metrics);
  const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;
  const clockGuard = createClockGuard({ clock, logger, databaseNow: () => databaseNow(db.prisma) });

  const tellEnded = (delivery: EndedDelivery): void => {
    metrics.settled('failed');
    logger.wide('webhook_delivery_ended', {
      ...identity(delivery),
      attempts: delivery.attempt,
      error_class: delivery.lastError ?? undefined,
      waited_seconds: delivery.waitedSeconds,
      status: 'failed',
    });
  };

  const claim = async (limit: number): Promise<ClaimedDelivery[]> => {
    if (!(await clockGuard.isTrustworthy())) return [];
    const { claimed, ended } = await claimDeliveries(db, {
      limit,
      leaseSeconds,
      perOrigin: WEBHOOK_ATTEMPTS_PER_ORIGIN,
      perCustomer,
      delaysSeconds,
    });
    ended.forEach(tellEnded);
    return claimed;
  };

  const settleSuccess = batchCalls<Success, DeliveryState | null>(SETTLEMENTS, (all) =>
    settleDelivered(db, all),
  );
  const settle = (claimed: Claimed, outcome: DeliveryOutcome): Promise<DeliveryState | null> =>
    outcome.kind === 'delivered'
      ? settleSuccess({ ...claimed, httpStatus: outcome.httpStatus })
      : settleUndelivered(db, { ...claimed, outcome, jitter: Math.random(), delaysSeconds });

  const deliver = async (delivery: ClaimedDelivery): Promise<void> => {
    const startedAtMs = performance.now();
    metrics.began(delivery);
    const span = telemetry.tracing.startSpan('webhook attempt', {
      kind: 'client',
      parent: delivery.traceParent,
      attributes: {
        'lipsync.delivery_id': delivery.id,
        'lipsync.event_id': delivery.eventId,
        'lipsync.attempt': delivery.attempt,
        'lipsync.waited_seconds': delivery.waitedSeconds,
      },
    });
    const { outcome, error } = await sendDelivery(options, delivery).catch((fault: unknown): Attempt => {
      logger.error('could not attempt a delivery', { delivery_id: delivery.id, error: fault });
      return { outcome: { kind: 'deferred', delaySeconds: DEFER_SECONDS } };
    });
    const tookMs = performance.now() - startedAtMs;
    metrics.ended(outcome, tookMs / 1000);
    if ('httpStatus' in outcome) span.set({ 'http.response.status_code': outcome.httpStatus });
    span.end(outcome.kind === 'failed' ? outcome.error : undefined);
    const { id, claimToken } = delivery;
    const state = await settlePersistently({
      settle: () => settle({ id, claimToken }, outcome),
      forMs: leaseSeconds * 1000 - tookMs,
      deliveryId: id,
      logger,
    });
    metrics.settled(state);
    logger.wide('webhook_attempt', {
      ...identity(delivery),
      attempt: delivery.attempt,
      outcome: outcome.kind,
      http_status: 'httpStatus' in outcome ? outcome.httpStatus : undefined,
      error_class: outcome.kind === 'failed' ? outcome.error : undefined,
      error,
      duration_ms: Math.round(tookMs),
      waited_seconds: delivery.waitedSeconds,
      settled: state !== null,
      status: state ?? undefined,
      trace_id: span.traceId,
    });
  };

  const pollMs = options.pollMs ?? POLL_MS;
  const loop = createDispatchLoop({
    ...{ slots, claim, deliver, logger, pollMs },
    onTurn: countTurns(telemetry.metrics, 'dispatch', pollMs),
  });
  return { ...loop, clockGuard };
}

/** The delivery, its event, its customer and its destination, for the log. */
function identity(delivery: ClaimedDelivery | EndedDelivery): LogFields {
  return {
    delivery_id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    customer_id: delivery.customerId,
    render_id: delivery.renderId ?? undefined,
    preparation_id: delivery.preparationId ?? undefined,
    origin: delivery.origin,
  };
}
