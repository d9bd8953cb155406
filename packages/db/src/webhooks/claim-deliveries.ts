import { type Db } from '../postgres/db';
import { run } from '../postgres/statement';

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

/**
 * The SQL function of the migration `claims_by_receiver`. It does not return the record of an event. That is looked up
 * and not joined, because a join may be planned to read all events for the few that were claimed.
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
 * Claims due deliveries within the caps per origin and per customer, so that a receiver that hangs cannot take up all
 * attempts and one with a backlog does not delay the others. Customers with the fewest attempts under way come first,
 * overall and at each origin, which customers may share. The attempt counts from here, so that a delivery that kills
 * its dispatcher ends as well. A delivery that may have no further attempt, because it is too late or the last one was
 * lost, fails here. Rows that are locked elsewhere are left for a later claim.
 */
export async function claimDeliveries(db: Db, options: DeliveryClaimOptions): Promise<DeliveryClaim> {
  const { limit, leaseSeconds, perOrigin, perCustomer, delaysSeconds } = options;
  const rows = await run<ClaimedDelivery | EndedDelivery>(db, CLAIM_DELIVERIES, [
    limit,
    leaseSeconds,
    perOrigin,
    perCustomer,
    delaysSeconds.length + 1,
  ]);
  return {
    claimed: rows.filter((row) => row.claimToken !== null),
    ended: rows.filter((row) => row.claimToken === null),
  };
}
