import { nextAttemptAt, WEBHOOK_RETRY_DELAYS_SECONDS, type WebhookDeliveryRow } from '@lipsync/domain';
import { databaseNow, secondsAfter } from './database-clock';
import { transaction, type Db, type Tx } from './db';

/** A delivery that this dispatcher may attempt now, with all that the attempt needs. */
export interface ClaimedDelivery {
  id: string;
  claimToken: string;
  eventId: string;
  eventType: string;
  customerId: string;
  url: string;
  origin: string;
  /** This attempt's number, from 1. */
  attempt: number;
  /** The stored bytes to sign and send. */
  body: string;
  /** Ciphertext of the customer's signing secret; null when the customer has none. */
  secret: Uint8Array<ArrayBuffer> | null;
  /** For how long it was due. */
  waitedSeconds: number;
  /** W3C trace context of the request whose record ended; null where nothing is traced. */
  traceParent: string | null;
}

export interface DeliveryClaimOptions {
  limit: number;
  /** Longer than an attempt can take, or two dispatchers would send the same delivery at once. */
  leaseSeconds: number;
  /** Attempts under way at once, over all dispatchers. */
  perOrigin: number;
  perCustomer: number;
  /** Attempts of one delivery at most; 11 by the default schedule. */
  maxAttempts?: number;
}

/** What became of an attempt. */
export type DeliveryOutcome =
  | { kind: 'delivered'; httpStatus: number }
  | { kind: 'failed'; error: string; httpStatus?: number | undefined; retryAfterSeconds?: number | undefined }
  /** Not the receiver's fault (our own network, say): tried again later, and the attempt does not count. */
  | { kind: 'deferred'; delaySeconds: number };

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface DeliverySettlement {
  id: string;
  claimToken: string;
  outcome: DeliveryOutcome;
  /** Random, in [0, 1). */
  jitter: number;
  /** WEBHOOK_RETRY_SCHEDULE_SECONDS; the contract's schedule when left out. */
  delaysSeconds?: readonly number[];
}

/** One claim at a time, so that the caps hold over all dispatchers. */
const CLAIM_LOCK = 727_003;

/**
 * Claims due deliveries, oldest first, within the caps per origin and per customer: a receiver that hangs cannot take
 * all attempts. The attempt counts from here, so that a delivery that kills its dispatcher ends as well.
 */
export function claimDeliveries(db: Db, options: DeliveryClaimOptions): Promise<ClaimedDelivery[]> {
  const maxAttempts = options.maxAttempts ?? WEBHOOK_RETRY_DELAYS_SECONDS.length + 1;
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT pg_advisory_xact_lock(${CLAIM_LOCK}::int)::text`;
    await failExhausted(tx, maxAttempts);
    return claimDue(tx, options);
  });
}

/**
 * Writes the outcome of a claimed attempt, and tells what the delivery is then. Null: the claim had run out and somebody
 * else's counts.
 */
export function settleDelivery(db: Db, settlement: DeliverySettlement): Promise<DeliveryState | null> {
  const { id, claimToken, outcome } = settlement;
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM webhook_deliveries WHERE id = ${id} FOR UPDATE`;
    const delivery = await tx.webhookDelivery.findUnique({ where: { id } });
    if (delivery?.status !== 'pending' || delivery.claimToken !== claimToken) return null;
    const now = await databaseNow(tx);
    const settled = { leaseUntil: null, claimToken: null, updatedAt: now };
    const change = changeBy(outcome, delivery, settlement, now);
    await tx.webhookDelivery.update({ where: { id }, data: { ...settled, ...change } });
    return change.status ?? 'pending';
  });
}

function changeBy(
  outcome: DeliveryOutcome,
  { attempts, createdAt }: WebhookDeliveryRow,
  { jitter, delaysSeconds }: DeliverySettlement,
  now: Date,
): Partial<Omit<WebhookDeliveryRow, 'status'>> & { status?: DeliveryState } {
  switch (outcome.kind) {
    case 'delivered':
      return {
        status: 'delivered',
        lastHttpStatus: outcome.httpStatus,
        lastError: null,
        nextAttemptAt: null,
      };
    case 'deferred':
      return { attempts: attempts - 1, nextAttemptAt: secondsAfter(now, outcome.delaySeconds) };
    case 'failed': {
      const { retryAfterSeconds } = outcome;
      const schedule = delaysSeconds ? { delaysSeconds } : {};
      const next = nextAttemptAt({ attempts, createdAt, now, jitter, retryAfterSeconds, ...schedule });
      const failure = { lastHttpStatus: outcome.httpStatus ?? null, lastError: outcome.error };
      return { ...failure, status: next ? 'pending' : 'failed', nextAttemptAt: next };
    }
  }
}

/** The last attempt was claimed and its dispatcher died: what it did is unknown, and there is no further one. */
async function failExhausted(tx: Tx, maxAttempts: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE webhook_deliveries
    SET status = 'failed', next_attempt_at = NULL, lease_until = NULL, claim_token = NULL,
        last_error = COALESCE(last_error, 'timeout'), updated_at = clock_timestamp()
    WHERE status = 'pending' AND attempts >= ${maxAttempts}::int AND lease_until < clock_timestamp()`;
}

function claimDue(
  tx: Tx,
  { limit, leaseSeconds, perOrigin, perCustomer }: DeliveryClaimOptions,
): Promise<ClaimedDelivery[]> {
  return tx.$queryRaw<ClaimedDelivery[]>`
    WITH busy AS (
      SELECT origin, customer_id FROM webhook_deliveries WHERE status = 'pending' AND lease_until >= clock_timestamp()
    ), busy_origin AS (
      SELECT origin, count(*) AS attempts FROM busy GROUP BY origin
    ), busy_customer AS (
      SELECT customer_id, count(*) AS attempts FROM busy GROUP BY customer_id
    ), due AS (
      SELECT id, origin, customer_id, next_attempt_at,
        row_number() OVER (PARTITION BY origin ORDER BY next_attempt_at, id) AS origin_turn
      FROM webhook_deliveries
      WHERE status = 'pending' AND next_attempt_at <= clock_timestamp()
        AND (lease_until IS NULL OR lease_until < clock_timestamp())
    ), by_origin AS (
      SELECT due.*, row_number() OVER (PARTITION BY customer_id ORDER BY next_attempt_at, id) AS customer_turn
      FROM due LEFT JOIN busy_origin USING (origin)
      WHERE origin_turn + COALESCE(busy_origin.attempts, 0) <= ${perOrigin}::int
    ), chosen AS (
      SELECT id FROM by_origin LEFT JOIN busy_customer USING (customer_id)
      WHERE customer_turn + COALESCE(busy_customer.attempts, 0) <= ${perCustomer}::int
      ORDER BY next_attempt_at, id
      LIMIT ${limit}::int
    ), claimed AS (
      UPDATE webhook_deliveries AS delivery
      SET attempts = attempts + 1, claim_token = gen_random_uuid()::text,
          lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}::float8)
      FROM chosen
      WHERE delivery.id = chosen.id
      RETURNING delivery.*
    )
    SELECT claimed.id, claimed.claim_token AS "claimToken", claimed.event_id AS "eventId", event.type AS "eventType",
      claimed.customer_id AS "customerId", claimed.url, claimed.origin, claimed.attempts AS attempt, event.body,
      (SELECT ciphertext FROM webhook_secrets AS secret
        WHERE secret.customer_id = claimed.customer_id AND secret.retired_at IS NULL
        ORDER BY secret.created_at DESC, secret.id DESC LIMIT 1) AS secret,
      GREATEST(0, extract(epoch FROM clock_timestamp() - claimed.next_attempt_at))::float8 AS "waitedSeconds",
      COALESCE(
        (SELECT trace_parent FROM renders WHERE renders.id = event.render_id),
        (SELECT trace_parent FROM preparations WHERE preparations.id = event.preparation_id)
      ) AS "traceParent"
    FROM claimed JOIN webhook_events AS event ON event.id = claimed.event_id
    ORDER BY claimed.next_attempt_at, claimed.id`;
}
