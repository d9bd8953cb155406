import { nextAttemptAt, type WebhookDeliveryRow } from '@lipsync/domain';
import { databaseNow, type Db, secondsAfter, transaction } from '../postgres/db';
import { type ClaimedDelivery } from './claim-deliveries';

/** The outcome of an attempt. */
export type DeliveryOutcome =
  | { kind: 'delivered'; httpStatus: number }
  | { kind: 'failed'; error: string; httpStatus?: number | undefined; retryAfterSeconds?: number | undefined }
  /**
   * Not the receiver's fault (for instance our own network): retried later, and the attempt does not count. A claim
   * ends this too: after the window if there were attempts that count, otherwise with the event.
   */
  | { kind: 'deferred'; delaySeconds: number };

export type DeliveryState = 'pending' | 'delivered' | 'failed';

interface RetrySchedule {
  /** Delays after failures 1, 2, …: the same list as in the claim. */
  delaysSeconds: readonly number[];
  /** Random, in [0, 1). */
  jitter: number;
}

/**
 * Records the outcome of a claimed attempt, and resolves with the state of its delivery; null if the claim had run out,
 * so that another one's outcome counts.
 */
export async function settleDelivery(
  db: Db,
  { id, claimToken }: Pick<ClaimedDelivery, 'id' | 'claimToken'>,
  outcome: DeliveryOutcome,
  schedule: RetrySchedule,
): Promise<DeliveryState | null> {
  if (outcome.kind === 'delivered') {
    // Does not wait for the disk: if the server crashes and loses the write, the delivery is sent again under the same
    // ids, as if the dispatcher had died between the response and this statement.
    const settled = await db.prisma.$executeRaw`
      UPDATE webhook_deliveries
      SET status = 'delivered', last_http_status = ${outcome.httpStatus}, last_error = NULL, next_attempt_at = NULL,
        lease_until = NULL, claim_token = NULL, updated_at = clock_timestamp()
      FROM set_config('synchronous_commit', 'off', true)
      WHERE id = ${id} AND claim_token = ${claimToken} AND status = 'pending'`;
    return settled === 1 ? 'delivered' : null;
  }
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM webhook_deliveries WHERE id = ${id} FOR UPDATE`;
    const delivery = await tx.webhookDelivery.findUnique({ where: { id } });
    if (delivery?.status !== 'pending' || delivery.claimToken !== claimToken) return null;
    const now = await databaseNow(tx);
    const change = changeBy(outcome, delivery, schedule, now);
    const settled = { leaseUntil: null, claimToken: null, updatedAt: now };
    await tx.webhookDelivery.update({ where: { id }, data: { ...settled, ...change } });
    return change.status;
  });
}

function changeBy(
  outcome: Exclude<DeliveryOutcome, { kind: 'delivered' }>,
  { attempts, createdAt }: WebhookDeliveryRow,
  { jitter, delaysSeconds }: RetrySchedule,
  now: Date,
): Partial<WebhookDeliveryRow> & { status: DeliveryState } {
  if (outcome.kind === 'deferred') {
    const next = secondsAfter(now, outcome.delaySeconds);
    return { status: 'pending', attempts: attempts - 1, nextAttemptAt: next };
  }
  const { error, httpStatus, retryAfterSeconds } = outcome;
  const next = nextAttemptAt({ attempts, createdAt, now, jitter, retryAfterSeconds, delaysSeconds });
  return {
    status: next ? 'pending' : 'failed',
    nextAttemptAt: next,
    lastHttpStatus: httpStatus ?? null,
    lastError: error,
  };
}
