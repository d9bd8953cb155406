import { randomUUID } from 'node:crypto';
import { WEBHOOK_WINDOW_SECONDS } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { HELD_CUSTOMERS } from '../customers/suspension';
import { type Db, run, transaction } from '../postgres/db';
import { GIVE_UP } from './webhook-events';

interface DueDelivery {
  id: string;
  eventId: string;
  eventType: string;
  customerId: string;
  /** The record whose end it reports: either a render or a preparation. */
  renderId: string | null;
  preparationId: string | null;
  url: string;
  origin: string;
  /** How long it was due before this claim. */
  waitedSeconds: number;
}

/** A delivery that this dispatcher may attempt now, with everything that the attempt needs. */
export interface ClaimedDelivery extends DueDelivery {
  claimToken: string;
  /** This attempt's number, from 1. */
  attempt: number;
  /** The stored bytes to sign and send. */
  body: string;
  /** Ciphertext of the customer's signing secret; null if the customer has none. */
  secret: Uint8Array<ArrayBuffer> | null;
  /** W3C trace context of the request whose record ended; null if that is not traced. */
  traceParent: string | null;
}

/** A delivery that a claim ended: no attempt at it is under way, and no other claim reports it. */
export interface EndedDelivery extends DueDelivery {
  /** The number of attempts made. */
  attempt: number;
  /** The error of its last attempt; null if it was never attempted. */
  lastError: string | null;
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
      AND customer_id NOT IN (${HELD_CUSTOMERS})
    LIMIT 1`,
};

/**
 * Claims due deliveries within the caps per origin and per customer, so that a receiver that hangs cannot take up all
 * attempts and one with a backlog does not delay the others. Customers with the fewest attempts under way come first,
 * overall and at each origin, which customers may share. The attempt counts from here, so that a delivery that kills
 * its dispatcher ends as well. A delivery that may have no further attempt, because it is too late or the last one was
 * lost, fails here. Rows that are locked elsewhere are left for a later claim.
 */
export async function claimDeliveries(db: Db, options: DeliveryClaimOptions): Promise<DeliveryClaim> {
  if ((await run(db, LOOK, [])).length === 0) return { claimed: [], ended: [] };
  return transaction(db, async (tx) => {
    // One claim at a time counts the attempts under way, so that the caps hold over all dispatchers. A claim that a
    // crash of the server forgets is a delivery that is due again, so nobody waits for the disk.
    await tx.$executeRaw`SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(727003)`;
    const chosen = await tx.$queryRaw<ChosenDelivery[]>(chooseDeliveries(options));

    const over = chosen.filter(({ isOver }) => isOver);
    if (over.length > 0)
      await tx.$executeRaw`
        UPDATE webhook_deliveries
        SET ${GIVE_UP}, last_error = CASE WHEN attempts > 0 THEN COALESCE(last_error, 'timeout') END
        WHERE id = ANY(${over.map(({ id }) => id)})`;

    const open = chosen.filter(({ isOver }) => !isOver);
    const claimToken = randomUUID();
    if (open.length > 0)
      await tx.$executeRaw`
        UPDATE webhook_deliveries SET attempts = attempts + 1, claim_token = ${claimToken},
          lease_until = clock_timestamp() + make_interval(secs => ${options.leaseSeconds}::float8)
        WHERE id = ANY(${open.map(({ id }) => id)})`;

    return {
      claimed: open.map(({ attempts, ...delivery }) => ({ ...delivery, claimToken, attempt: attempts + 1 })),
      ended: over.map(({ attempts, lastError, ...delivery }) => ({
        ...delivery,
        attempt: attempts,
        lastError: attempts > 0 ? (lastError ?? 'timeout') : null,
      })),
    };
  });
}

interface ChosenDelivery extends DueDelivery {
  /** The number of attempts made. */
  attempts: number;
  lastError: string | null;
  body: string;
  secret: Uint8Array<ArrayBuffer> | null;
  traceParent: string | null;
  isOver: boolean;
}

/**
 * - `customer`, `origin`: the attempts under way.
 * - `waiting`, `due`: the customers with deliveries that are due and need not wait for a suspension to end, and the
 *   oldest of each, except where the origin has all attempts that it may have. Receivers are not visited one by one:
 *   how many a customer has is its own choice, and must not slow down the deliveries of others.
 * - `in_turn`, `at_origin`: attempts under way take the first places. A customer's deliveries follow by their age; those
 *   of an origin in turn over its customers, those with the fewest attempts first.
 * - `candidate`: each row is locked by its id alone and judged as it is then; a row that is locked elsewhere is left for
 *   a later claim. LIMIT 1 keeps Postgres from choosing another index for the id.
 *
 * The times are those of this statement, which begins when the lock is held. An attempt may be due at the very end of the
 * window, so a delivery is too late a minute after it. One that was never attempted is not given up for its age, because
 * the delay was the service's own.
 *
 * A queue's statistics are never right, so this plan must be the cheapest whatever they say: no other index answers its
 * conditions for as little. For the same reason `due` compares times outside of its LIMIT: inside, Postgres may search the
 * due deliveries of all customers for those of each.
 */
function chooseDeliveries({
  limit,
  perOrigin,
  perCustomer,
  delaysSeconds,
}: DeliveryClaimOptions): Prisma.Sql {
  const isFree = Prisma.sql`(lease_until IS NULL OR lease_until <= statement_timestamp())`;
  return Prisma.sql`
    WITH customer AS (
      SELECT customer_id, count(*) AS under_way FROM webhook_deliveries
      WHERE lease_until > statement_timestamp() GROUP BY customer_id
    ), origin AS (
      SELECT origin, count(*) AS under_way FROM webhook_deliveries
      WHERE lease_until > statement_timestamp() GROUP BY origin
    ), waiting AS (
      SELECT DISTINCT customer_id FROM webhook_deliveries
      WHERE next_attempt_at <= statement_timestamp() AND ${isFree}
        AND customer_id NOT IN (${Prisma.raw(HELD_CUSTOMERS)})
    ), due AS (
      SELECT oldest.* FROM waiting CROSS JOIN LATERAL (
        SELECT id, customer_id, origin, next_attempt_at AS due_at FROM webhook_deliveries
        WHERE status = 'pending' AND customer_id = waiting.customer_id AND ${isFree}
          AND origin NOT IN (SELECT origin FROM origin WHERE under_way >= ${perOrigin}::int)
        ORDER BY next_attempt_at, id LIMIT ${perCustomer}::int
      ) AS oldest WHERE due_at <= statement_timestamp()
    ), in_turn AS (
      SELECT due.*, COALESCE(customer.under_way, 0)
        + row_number() OVER (PARTITION BY customer_id ORDER BY due_at, id) AS place
      FROM due LEFT JOIN customer USING (customer_id)
    ), at_origin AS (
      SELECT in_turn.*, COALESCE(origin.under_way, 0)
        + row_number() OVER (PARTITION BY origin ORDER BY place, due_at, id) AS place_at_origin
      FROM in_turn LEFT JOIN origin USING (origin) WHERE place <= ${perCustomer}::int
    )
    SELECT delivery.id, event.id AS "eventId", event.type AS "eventType", delivery.customer_id AS "customerId",
      render_id AS "renderId", preparation_id AS "preparationId", url, origin, attempts, last_error AS "lastError", body,
      (
        SELECT ciphertext FROM webhook_secrets AS secret
        WHERE secret.customer_id = delivery.customer_id
          AND (active_from IS NULL OR active_from <= statement_timestamp())
          AND (retired_at IS NULL OR retired_at > statement_timestamp())
        ORDER BY secret.created_at DESC, secret.id DESC LIMIT 1
      ) AS secret,
      COALESCE(
        (SELECT trace_parent FROM renders WHERE renders.id = render_id),
        (SELECT trace_parent FROM preparations WHERE preparations.id = preparation_id)
      ) AS "traceParent",
      extract(epoch FROM statement_timestamp() - due_at)::float8 AS "waitedSeconds",
      event.expires_at <= statement_timestamp()
        OR (attempts > 0
          AND delivery.created_at <= statement_timestamp() - make_interval(secs => ${WEBHOOK_WINDOW_SECONDS + 60}::float8))
        OR (lease_until IS NOT NULL AND attempts > ${delaysSeconds.length}::int) AS "isOver"
    FROM (
      SELECT id, due_at FROM at_origin WHERE place_at_origin <= ${perOrigin}::int
      ORDER BY place, due_at, id
    ) AS candidate
    CROSS JOIN LATERAL (
      SELECT * FROM webhook_deliveries WHERE id = candidate.id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS delivery
    CROSS JOIN LATERAL (SELECT * FROM webhook_events WHERE id = delivery.event_id LIMIT 1) AS event
    WHERE next_attempt_at <= statement_timestamp() AND ${isFree}
    LIMIT ${limit}::int`;
}
