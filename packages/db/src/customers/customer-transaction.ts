import { type Db, transaction, type Tx } from '../postgres/db';

/** How long to wait for a lock on a customer's rows. A duplicate request waits until the first request has ended. */
export const LOCK_TIMEOUT = '5s';

/**
 * Runs `work`, which takes locks on this customer's rows, in one transaction when its turn comes.
 * Fails with LOCK_NOT_AVAILABLE if a lock is not available in time, and with service_unavailable if the turn does not
 * come in time.
 */
export function customerTransaction<T>(db: Db, customerId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.runExclusive(customerId, () =>
    transaction(db, async (tx) => {
      await tx.$queryRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
      return work(tx);
    }),
  );
}
