import { nextAttemptAt, type WebhookDeliveryRow } from '@lipsync/domain';
import { databaseNow, type Db, run, secondsAfter, transaction } from '../postgres/db';

/** The outcome of an attempt. */
export type DeliveryOutcome = { kind: 'delivered'; httpStatus: number } | UndeliveredOutcome;

export type UndeliveredOutcome =
  | { kind: 'failed'; error: string; httpStatus?: number | undefined; retryAfterSeconds?: number | undefined }
  /**
   * Not the receiver's fault (for instance our own network): retried later, and the attempt does not count. A claim
   * ends this too: after the window if there were attempts that count, otherwise with the event.
   */
  | { kind: 'deferred'; delaySeconds: number };

export type DeliveryState = 'pending' | 'delivered' | 'failed';

export interface UndeliveredSettlement {
  id: string;
  claimToken: string;
  outcome: UndeliveredOutcome;
  /** Random, in [0, 1). */
  jitter: number;
  /** The same list as in its claim. */
  delaysSeconds: readonly number[];
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
 * Records that claimed attempts succeeded, and returns the state of each delivery; null if the claim had run out, so
 * that another one's outcome counts. Does not wait for the disk: if the server crashes and loses the write, the
 * delivery is sent again under the same ids, as if the dispatcher had died between the response and this call.
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
 * Records that a claimed attempt did not succeed. Returns null if the claim had run out, so that another one's outcome
 * counts.
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
      const next = nextAttemptAt({ attempts, createdAt, now, jitter, retryAfterSeconds, delaysSeconds });
      const failure = { lastHttpStatus: outcome.httpStatus ?? null, lastError: outcome.error };
      return { ...failure, status: next ? 'pending' : 'failed', nextAttemptAt: next };
    }
  }
}
