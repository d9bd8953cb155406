import { type Db } from '../postgres/db';
import { run } from '../postgres/statement';

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
  /** After the failures 1, 2, …: a delivery has one attempt more than there are delays. */
  delaysSeconds: readonly number[];
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
