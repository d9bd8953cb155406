import { nextAttemptAt, WEBHOOK_RETRY_DELAYS_SECONDS, type WebhookDeliveryRow } from '@lipsync/domain';
import { databaseNow, secondsAfter } from './database-clock';
import { transaction, type Db } from './db';
import { run } from './statement';

/** A delivery that this dispatcher may attempt now, with all that the attempt needs. */
export interface ClaimedDelivery {
  id: string;
  claimToken: string;
  eventId: string;
  eventType: string;
  customerId: string;
  /** The record whose end it tells of: the one or the other. */
  renderId: string | null;
  preparationId: string | null;
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

/** A delivery that a claim found to be over: nothing of it is under way, and nobody else is told. */
export interface EndedDelivery {
  id: string;
  /** Null: it is not to be sent. */
  claimToken: null;
  eventId: string;
  eventType: string;
  customerId: string;
  /** The record whose end it tells of: the one or the other. */
  renderId: string | null;
  preparationId: string | null;
  origin: string;
  /** Attempts that were made of it, the last one's number. */
  attempt: number;
  /** What its last attempt failed with; null when it was never attempted. */
  lastError: string | null;
  /** For how long it was due. */
  waitedSeconds: number;
}

export interface DeliveryClaim {
  claimed: ClaimedDelivery[];
  ended: EndedDelivery[];
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
export type DeliveryOutcome = { kind: 'delivered'; httpStatus: number } | UndeliveredOutcome;

export type UndeliveredOutcome =
  | { kind: 'failed'; error: string; httpStatus?: number | undefined; retryAfterSeconds?: number | undefined }
  /**
   * Not the receiver's fault (our own network, say): tried again later, and the attempt does not count. A claim ends
   * this, too: with the window if there were attempts that count, else with the event.
   */
  | { kind: 'deferred'; delaySeconds: number };

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface UndeliveredSettlement {
  id: string;
  claimToken: string;
  outcome: UndeliveredOutcome;
  /** Random, in [0, 1). */
  jitter: number;
  /** WEBHOOK_RETRY_SCHEDULE_SECONDS; the contract's schedule when left out. */
  delaysSeconds?: readonly number[];
}

/**
 * The function of the migration `claims_by_receiver`. It does not name the record of an event. Looked up and not joined:
 * a join may be planned to read all events for the few that were claimed.
 */
const CLAIM_DELIVERIES = {
  name: 'claim_deliveries_in_turn',
  text: `
    SELECT id, claim_token AS "claimToken", event_id AS "eventId", event_type AS "eventType",
      customer_id AS "customerId", url, origin, attempt, body, secret, waited_seconds AS "waitedSeconds",
      trace_parent AS "traceParent", last_error AS "lastError",
      (SELECT event.render_id FROM webhook_events AS event WHERE event.id = taken.event_id) AS "renderId",
      (SELECT event.preparation_id FROM webhook_events AS event WHERE event.id = taken.event_id) AS "preparationId"
    FROM claim_deliveries_in_turn($1, $2, $3, $4, $5) AS taken`,
};

/**
 * Claims due deliveries within the caps per origin and per customer: a receiver that hangs cannot take all attempts, and
 * one with a backlog does not keep the others waiting. Whoever has the fewest attempts under way comes first, over all and
 * at each origin, which customers may share. The attempt counts from here, so that a delivery that kills its dispatcher
 * ends as well. What may have no further attempt, because it is too late or the last one was lost, fails here. What
 * somebody else has locked is left for a later claim.
 */
export async function claimDeliveries(db: Db, options: DeliveryClaimOptions): Promise<DeliveryClaim> {
  const { limit, leaseSeconds, perOrigin, perCustomer } = options;
  const maxAttempts = options.maxAttempts ?? WEBHOOK_RETRY_DELAYS_SECONDS.length + 1;
  const rows = await run<ClaimedDelivery | EndedDelivery>(db, CLAIM_DELIVERIES, [
    limit,
    leaseSeconds,
    perOrigin,
    perCustomer,
    maxAttempts,
  ]);
  return {
    claimed: rows.filter((row) => row.claimToken !== null),
    ended: rows.filter((row) => row.claimToken === null),
  };
}

const SETTLE_DELIVERED = {
  name: 'settle_delivered',
  text: `
    UPDATE webhook_deliveries AS delivery
    SET status = 'delivered', last_http_status = settled.http_status, last_error = NULL, next_attempt_at = NULL,
      lease_until = NULL, claim_token = NULL, updated_at = clock_timestamp()
    FROM unnest($1::text[], $2::text[], $3::integer[]) AS settled(id, claim_token, http_status),
      set_config('synchronous_commit', 'off', true)
    WHERE delivery.id = settled.id AND delivery.claim_token = settled.claim_token AND delivery.status = 'pending'
    RETURNING delivery.id`,
};

/**
 * Writes that claimed attempts succeeded, and tells for each what the delivery is then. Null: the claim had run out and
 * somebody else's counts. Nobody waits for the disk: what a crash of the server forgets is sent once more under the same
 * ids, as when the dispatcher dies between the answer and this.
 */
export async function settleDelivered(
  db: Db,
  attempts: readonly { id: string; claimToken: string; httpStatus: number }[],
): Promise<('delivered' | null)[]> {
  const settled = await run<{ id: string }>(db, SETTLE_DELIVERED, [
    attempts.map(({ id }) => id),
    attempts.map(({ claimToken }) => claimToken),
    attempts.map(({ httpStatus }) => httpStatus),
  ]);
  const ids = new Set(settled.map(({ id }) => id));
  return attempts.map(({ id }) => (ids.has(id) ? 'delivered' : null));
}

/**
 * Writes that a claimed attempt did not succeed. Null: the claim had run out and somebody else's counts.
 */
export function settleUndelivered(db: Db, settlement: UndeliveredSettlement): Promise<DeliveryState | null> {
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
  outcome: UndeliveredOutcome,
  { attempts, createdAt }: WebhookDeliveryRow,
  { jitter, delaysSeconds }: UndeliveredSettlement,
  now: Date,
): Partial<Omit<WebhookDeliveryRow, 'status'>> & { status?: DeliveryState } {
  switch (outcome.kind) {
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
