import { WEBHOOK_WINDOW_SECONDS } from '@lipsync/domain';
import { type Db, run } from '../postgres/db';

/** A delivery that this dispatcher may attempt now, with everything that the attempt needs. */
export interface ClaimedDelivery {
  id: string;
  claimToken: string;
  eventId: string;
  eventType: string;
  customerId: string;
  /** The record whose end it reports: either a render or a preparation. */
  renderId: string | null;
  preparationId: string | null;
  url: string;
  origin: string;
  /** This attempt's number, from 1. */
  attempt: number;
  /** The stored bytes to sign and send. */
  body: string;
  /** Ciphertext of the customer's signing secret; null if the customer has none. */
  secret: Uint8Array<ArrayBuffer> | null;
  /** How long it was due before this claim. */
  waitedSeconds: number;
  /** W3C trace context of the request whose record ended; null if that is not traced. */
  traceParent: string | null;
}

/** A delivery that a claim ended: no attempt at it is under way, and no other claim reports it. */
export interface EndedDelivery {
  id: string;
  /** Null, because it must not be sent. */
  claimToken: null;
  eventId: string;
  eventType: string;
  customerId: string;
  /** The record whose end it reports: either a render or a preparation. */
  renderId: string | null;
  preparationId: string | null;
  origin: string;
  /** The number of attempts made. */
  attempt: number;
  /** The error of its last attempt; null if it was never attempted. */
  lastError: string | null;
  /** How long it was due before this claim. */
  waitedSeconds: number;
}

export interface DeliveryClaim {
  claimed: ClaimedDelivery[];
  ended: EndedDelivery[];
}

export interface DeliveryClaimOptions {
  limit: number;
  /** Longer than an attempt can take; otherwise two dispatchers would send the same delivery at once. */
  leaseSeconds: number;
  /** Attempts under way at once, over all dispatchers. */
  perOrigin: number;
  perCustomer: number;
  /** Delays after failures 1, 2, …: one fewer than there are attempts. */
  delaysSeconds: readonly number[];
}

/** Most looks find nothing. They take no lock and write nothing. */
const LOOK = {
  name: 'look_for_deliveries',
  text: `
    SELECT FROM webhook_deliveries
    WHERE next_attempt_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until <= statement_timestamp())
    LIMIT 1`,
};

/**
 * One claim at a time counts the attempts under way, so that the caps hold over all dispatchers. A claim that a crash of
 * the server forgets is a delivery that is due again, so nobody waits for the disk.
 */
const BEGIN = 'BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock(727003)';

/**
 * - `waiting`: every customer that has pending deliveries, by one index descent each. Customers, not their receivers: how
 *   many of those there are is a customer's choice, and must not slow down the deliveries of others.
 * - `due`: the oldest due deliveries of each, except where the origin or the customer has all attempts that it may have.
 * - `in_turn`, `placed`: attempts under way take the first places. A receiver's deliveries follow by their age; those of
 *   an origin and of a customer in turn over its receivers.
 * - `chosen`: who has the fewest attempts comes first. Each row is locked by its id alone and judged as it is then; a row
 *   that is locked elsewhere is left for a later claim. LIMIT 1 keeps Postgres from choosing another index for the id.
 *
 * The times are those of this statement, which begins when the lock is held. An attempt may be due at the very end of the
 * window, so a delivery is too late a minute after it. One that was never attempted is not given up for its age, because
 * the delay was the service's own.
 */
const CLAIM = {
  name: 'claim_deliveries',
  text: `
    WITH RECURSIVE under_way AS MATERIALIZED (
      SELECT customer_id, origin FROM webhook_deliveries WHERE lease_until > statement_timestamp()
    ), waiting AS (
      (SELECT customer_id FROM webhook_deliveries WHERE status = 'pending' ORDER BY customer_id LIMIT 1)
      UNION ALL
      SELECT following.customer_id FROM waiting CROSS JOIN LATERAL (
        SELECT customer_id FROM webhook_deliveries
        WHERE status = 'pending' AND customer_id > waiting.customer_id
        ORDER BY customer_id LIMIT 1
      ) AS following
    ), due AS (
      SELECT oldest.* FROM waiting CROSS JOIN LATERAL (
        SELECT id, customer_id, origin, next_attempt_at AS due_at FROM webhook_deliveries
        WHERE status = 'pending' AND customer_id = waiting.customer_id
          AND (lease_until IS NULL OR lease_until <= statement_timestamp())
          AND origin NOT IN (SELECT origin FROM under_way GROUP BY origin HAVING count(*) >= $3)
        ORDER BY next_attempt_at, id LIMIT $4
      ) AS oldest
      WHERE due_at <= statement_timestamp()
        AND waiting.customer_id NOT IN (SELECT customer_id FROM under_way GROUP BY customer_id HAVING count(*) >= $4)
    ), in_turn AS (
      SELECT *, row_number() OVER (PARTITION BY customer_id, origin ORDER BY due_at NULLS FIRST, id) AS turn
      FROM (SELECT * FROM due UNION ALL SELECT NULL, customer_id, origin, NULL FROM under_way) AS attempt
    ), placed AS (
      SELECT id, due_at,
        row_number() OVER (PARTITION BY origin ORDER BY id IS NOT NULL, turn, due_at, id) AS place_at_origin,
        row_number() OVER (PARTITION BY customer_id ORDER BY id IS NOT NULL, turn, due_at, id) AS place_of_customer
      FROM in_turn
    ), chosen AS (
      SELECT delivery.id, due_at, event.type, event.body, event.render_id, event.preparation_id,
        event.expires_at <= statement_timestamp()
          OR (attempts > 0
            AND delivery.created_at <= statement_timestamp() - interval '${WEBHOOK_WINDOW_SECONDS + 60} seconds')
          OR (lease_until IS NOT NULL AND attempts >= $5) AS is_over
      FROM (
        SELECT id, due_at FROM placed WHERE id IS NOT NULL AND place_at_origin <= $3 AND place_of_customer <= $4
        ORDER BY place_of_customer, due_at, id
      ) AS candidate
      CROSS JOIN LATERAL (
        SELECT * FROM webhook_deliveries WHERE id = candidate.id LIMIT 1 FOR UPDATE SKIP LOCKED
      ) AS delivery
      CROSS JOIN LATERAL (SELECT * FROM webhook_events WHERE id = delivery.event_id LIMIT 1) AS event
      WHERE next_attempt_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until <= statement_timestamp())
      LIMIT $1
    ), taken AS (
      UPDATE webhook_deliveries AS delivery SET
        status = CASE WHEN is_over THEN 'failed' ELSE 'pending' END,
        attempts = CASE WHEN is_over THEN attempts ELSE attempts + 1 END,
        next_attempt_at = CASE WHEN is_over THEN NULL ELSE next_attempt_at END,
        lease_until = CASE WHEN is_over THEN NULL ELSE statement_timestamp() + make_interval(secs => $2) END,
        claim_token = CASE WHEN is_over THEN NULL ELSE gen_random_uuid()::text END,
        last_error = CASE WHEN is_over AND attempts > 0 THEN COALESCE(last_error, 'timeout') ELSE last_error END,
        updated_at = CASE WHEN is_over THEN statement_timestamp() ELSE updated_at END
      FROM chosen WHERE delivery.id = chosen.id
      RETURNING delivery.*, due_at, type, body, render_id, preparation_id
    )
    SELECT id, claim_token AS "claimToken", event_id AS "eventId", type AS "eventType", customer_id AS "customerId",
      render_id AS "renderId", preparation_id AS "preparationId", url, origin, attempts AS attempt,
      last_error AS "lastError", CASE WHEN claim_token IS NOT NULL THEN body END AS body,
      (
        SELECT ciphertext FROM webhook_secrets AS secret
        WHERE secret.customer_id = taken.customer_id
          AND (active_from IS NULL OR active_from <= statement_timestamp())
          AND (retired_at IS NULL OR retired_at > statement_timestamp())
        ORDER BY secret.created_at DESC, secret.id DESC LIMIT 1
      ) AS secret,
      extract(epoch FROM statement_timestamp() - due_at)::float8 AS "waitedSeconds",
      COALESCE(
        (SELECT trace_parent FROM renders WHERE renders.id = render_id),
        (SELECT trace_parent FROM preparations WHERE preparations.id = preparation_id)
      ) AS "traceParent"
    FROM taken ORDER BY due_at, id`,
};

/**
 * Claims due deliveries within the caps per origin and per customer, so that a receiver that hangs cannot take up all
 * attempts and one with a backlog does not delay the others. Customers with the fewest attempts under way come first,
 * overall and at each origin, which customers may share. The attempt counts from here, so that a delivery that kills
 * its dispatcher ends as well. A delivery that may have no further attempt, because it is too late or the last one was
 * lost, fails here. Rows that are locked elsewhere are left for a later claim.
 */
export async function claimDeliveries(db: Db, options: DeliveryClaimOptions): Promise<DeliveryClaim> {
  const { limit, leaseSeconds, perOrigin, perCustomer, delaysSeconds } = options;
  if ((await run(db, LOOK, [])).length === 0) return { claimed: [], ended: [] };
  const client = await db.pool.connect();
  try {
    await client.query(BEGIN);
    const { rows } = await client.query<ClaimedDelivery | EndedDelivery>({
      ...CLAIM,
      values: [limit, leaseSeconds, perOrigin, perCustomer, delaysSeconds.length + 1],
    });
    await client.query('COMMIT');
    client.release();
    return {
      claimed: rows.filter((row) => row.claimToken !== null),
      ended: rows.filter((row) => row.claimToken === null),
    };
  } catch (error) {
    // Rolls back: the server ends the transaction with its connection.
    client.release(true);
    throw error;
  }
}
