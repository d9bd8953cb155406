import { transaction, type Db, type Tx } from '../postgres/db';

/** How long anybody waits for a lock of a customer's: for a duplicate, until the request that came first has ended. */
export const LOCK_TIMEOUT = '5s';

/**
 * Runs `work`, which locks something of this customer's, in one transaction when it is its turn. A lock that is not to be
 * had in time fails it with LOCK_NOT_AVAILABLE; a turn that does not come in time with service_unavailable.
 */
export function customerTransaction<T>(db: Db, customerId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.runExclusive(customerId, () =>
    transaction(db, async (tx) => {
      await tx.$queryRaw`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
      return work(tx);
    }),
  );
}
