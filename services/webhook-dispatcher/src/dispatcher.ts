import {
  claimDeliveries,
  type ClaimedDelivery,
  databaseNow,
  type Db,
  type DeliveryOutcome,
  type DeliveryState,
  type EndedDelivery,
  isDatabaseUnavailable,
  settleDelivery,
} from '@lipsync/db';
import { signatureHeader, WEBHOOK_ATTEMPTS_PER_ORIGIN, WEBHOOK_TIMEOUT_SECONDS } from '@lipsync/domain';
import {
  type Clock,
  type Egress,
  EgressError,
  type EgressErrorReason,
  type LogFields,
  type Logger,
  type PostResponse,
  retryWhile,
  type SecretBox,
} from '@lipsync/runtime';
import { type ATTEMPT_RESULTS, countTurns, type Telemetry } from '@lipsync/telemetry';
import { type ClockGuard, createClockGuard } from './clock-guard';
import { createDispatchLoop, type DispatchLoop } from './dispatch-loop';

export interface DispatcherDeps {
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

/**
 * Claims due deliveries from the database and processes each: sign, send, classify, settle, one log line. A delivery
 * that a claim found to be over also gets one line.
 */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, logger, clock, telemetry, slots, perCustomer, delaysSeconds } = deps;
  const { pollMs = POLL_MS, leaseSeconds = LEASE_SECONDS } = deps;
  const clockGuard = createClockGuard({ clock, logger, databaseNow: () => databaseNow(db.prisma) });
  const attempts = telemetry.metrics.counter('webhook_attempts_total');
  const durations = telemetry.metrics.histogram('webhook_attempt_duration_seconds');
  const firstLags = telemetry.metrics.histogram('webhook_first_attempt_lag_seconds');
  const inFlight = telemetry.metrics.gauge('webhook_in_flight');
  const deliveries = telemetry.metrics.counter('webhook_deliveries_total');
  inFlight.set({}, 0);

  async function claim(limit: number): Promise<ClaimedDelivery[]> {
    if (!(await clockGuard.isTrustworthy())) return [];
    const caps = { perOrigin: WEBHOOK_ATTEMPTS_PER_ORIGIN, perCustomer };
    const { claimed, ended } = await claimDeliveries(db, { limit, leaseSeconds, delaysSeconds, ...caps });
    for (const delivery of ended) {
      deliveries.inc({ status: 'failed' });
      logger.wide('webhook_delivery_ended', {
        ...identityFields(delivery),
        attempts: delivery.attempt,
        error_class: delivery.lastError ?? undefined,
        waited_seconds: delivery.waitedSeconds,
        status: 'failed',
      });
    }
    return claimed;
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, attempt, waitedSeconds } = delivery;
    const startedAtMs = performance.now();
    inFlight.add({}, 1);
    if (attempt === 1) firstLags.observe({}, waitedSeconds);
    const span = telemetry.tracing.startSpan('webhook attempt', {
      kind: 'client',
      parent: delivery.traceParent,
      attributes: {
        'lipsync.delivery_id': id,
        'lipsync.event_id': delivery.eventId,
        'lipsync.attempt': attempt,
        'lipsync.waited_seconds': waitedSeconds,
      },
    });

    const { outcome, error } = await send(deps, delivery).catch((fault: unknown): Attempt => {
      logger.error('could not attempt a delivery', { delivery_id: id, error: fault });
      return { outcome: { kind: 'deferred', delaySeconds: DEFER_SECONDS } };
    });
    const tookMs = performance.now() - startedAtMs;
    const errorClass = outcome.kind === 'failed' ? outcome.error : undefined;
    const httpStatus = 'httpStatus' in outcome ? outcome.httpStatus : undefined;
    inFlight.add({}, -1);
    attempts.inc({ result: outcome.kind === 'failed' ? outcome.error : outcome.kind });
    durations.observe({}, tookMs / 1000, span.traceId);
    if (httpStatus !== undefined) span.set({ 'http.response.status_code': httpStatus });
    span.end(errorClass);

    const state = await settlePersistently({
      settle: () => settle(delivery, outcome),
      forMs: leaseSeconds * 1000 - tookMs,
      deliveryId: id,
      logger,
    });
    if (state === 'delivered' || state === 'failed') deliveries.inc({ status: state });
    logger.wide('webhook_attempt', {
      ...identityFields(delivery),
      attempt,
      outcome: outcome.kind,
      http_status: httpStatus,
      error_class: errorClass,
      error,
      duration_ms: Math.round(tookMs),
      waited_seconds: waitedSeconds,
      settled: state !== null,
      status: state ?? undefined,
      trace_id: span.traceId,
    });
  }

  function settle(delivery: ClaimedDelivery, outcome: DeliveryOutcome): Promise<DeliveryState | null> {
    return settleDelivery(db, delivery, outcome, { delaysSeconds, jitter: Math.random() });
  }

  const onTurn = countTurns(telemetry.metrics, 'dispatch', pollMs);
  const loop = createDispatchLoop({ slots, pollMs, claim, deliver, onTurn, logger });
  return { ...loop, clockGuard };
}

interface Attempt {
  readonly outcome: Outcome;
  /** Why there was no response, for the log: the outcome tells the customer only the class of failure. */
  readonly error?: EgressError;
}

type Outcome =
  | Exclude<DeliveryOutcome, { kind: 'failed' }>
  | (Extract<DeliveryOutcome, { kind: 'failed' }> & { error: ErrorClass });

/** What customers read in `last_error`: a class of failure, never an address, a port or a body. */
type ErrorClass = Exclude<(typeof ATTEMPT_RESULTS)[number], 'delivered' | 'deferred'>;

const USER_AGENT = 'lipsync-service-webhooks/1.0';

/**
 * One attempt: signs the stored bytes with the current time and posts them. Resolves with the outcome. Throws only for
 * faults on this side (no secret, or one that cannot be decrypted): they must not count against the receiver.
 */
async function send(deps: DispatcherDeps, delivery: ClaimedDelivery): Promise<Attempt> {
  const { egress, secretBox, clock, timeoutMs = WEBHOOK_TIMEOUT_SECONDS * 1000 } = deps;
  if (delivery.secret === null) throw new Error('the customer has no webhook secret');
  const secretHex = secretBox.open(delivery.secret, delivery.customerId);
  const body = Buffer.from(delivery.body, 'utf8');
  const signedAtSeconds = Math.floor(clock.now() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'Svc-Event-ID': delivery.eventId,
    'Svc-Delivery-ID': delivery.id,
    'Svc-Signature': signatureHeader(secretHex, signedAtSeconds, delivery.id, body),
  };
  try {
    const response = await egress.post(delivery.url, { headers, body, deadlineMs: timeoutMs });
    return { outcome: classifyResponse(response, clock.now()) };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return { outcome: { kind: 'failed', error: ERROR_CLASSES[error.reason] }, error };
  }
}

/** The outcome of a response: 200 to 299 is success; a redirect is a failure class of its own and is never followed. */
export function classifyResponse({ status, retryAfter }: PostResponse, nowMs: number): Outcome {
  if (status >= 200 && status <= 299) return { kind: 'delivered', httpStatus: status };
  return {
    kind: 'failed',
    error: status >= 300 && status <= 399 ? 'redirect' : 'http_error',
    httpStatus: status,
    retryAfterSeconds: parseRetryAfter(retryAfter, nowMs),
  };
}

const ERROR_CLASSES: Readonly<Record<EgressErrorReason, ErrorClass>> = {
  dns_error: 'dns_error',
  connection_failed: 'connection_failed',
  tls_error: 'tls_error',
  timeout: 'timeout',
  address_not_allowed: 'address_not_allowed',
  redirect: 'redirect',
  http_status: 'http_error',
  // Responses to a POST are not measured; listed because the client shares its reasons with downloads.
  too_large: 'http_error',
  no_answer: 'timeout',
  too_slow: 'timeout',
};

/**
 * The number of seconds that a Retry-After header asks to wait (RFC 9110: a number of seconds, or a date); undefined
 * when it is not valid. Never negative.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  // Only HTTP's date format: Date.parse alone would read almost anything as a date.
  if (!/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)) return undefined;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - nowMs) / 1000);
}

/**
 * Writes an outcome, retrying while the database is away until the claim runs out (`forMs`). Resolves to the result of
 * `settle`, or to null when nothing was written: the delivery is then sent once more under the same ids, which
 * receivers are told to expect.
 */
export async function settlePersistently<State>(options: {
  settle: () => Promise<State | null>;
  forMs: number;
  deliveryId: string;
  logger: Logger;
}): Promise<State | null> {
  const { settle, forMs, deliveryId, logger } = options;
  // At least one try, however late it is.
  const claimOver = AbortSignal.timeout(Math.max(0, Math.round(forMs)));
  try {
    return await retryWhile(isDatabaseUnavailable, claimOver, settle);
  } catch (error) {
    logger.error('could not settle a delivery', { delivery_id: deliveryId, error });
    return null;
  }
}

/** The delivery, its event, its customer and its destination, for the log. */
function identityFields(delivery: ClaimedDelivery | EndedDelivery): LogFields {
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
