import { ServiceError } from '@lipsync/domain';
import { DATABASE_WAIT_MS, type Db, transaction, type Tx } from '../postgres/db';

/** How long to wait for a lock on a customer's rows. A duplicate request waits until the first request has ended. */
const LOCK_TIMEOUT = '5s';
/**
 * How many such transactions one customer may have in a process at once. They mostly wait for each other's locks, and
 * each holds a connection meanwhile: whatever one customer sends, most connections remain for the others.
 */
const AT_ONCE = 2;

/** Of each customer with such a transaction: how many there are, and those that wait for one of them to end. */
export type CustomerTurns = Map<string, { running: number; waiting: (() => void)[] }>;

/**
 * Runs `work`, which takes locks on this customer's rows, in one transaction when its turn comes. `now` is the time on
 * the database's clock when it began.
 * Fails with LOCK_NOT_AVAILABLE if a lock is not available in time, and with service_unavailable, never begun, if the
 * turn does not come in time.
 */
export async function customerTransaction<T>(
  db: Db,
  customerId: string,
  work: (tx: Tx, now: Date) => Promise<T>,
): Promise<T> {
  const turns = db.turns.get(customerId) ?? { running: 0, waiting: [] };
  db.turns.set(customerId, turns);
  const since = performance.now();
  if (turns.running < AT_ONCE) turns.running += 1;
  else await new Promise<void>((begin) => turns.waiting.push(begin));
  try {
    // The running ones end by their lock or statement timeout at the latest, so no timer is needed to notice this.
    if (performance.now() - since >= DATABASE_WAIT_MS) throw new ServiceError('service_unavailable');
    return await transaction(db, async (tx) => {
      const [begun] = await tx.$queryRaw<{ now: Date }[]>`
        SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true), clock_timestamp() AS now`;
      if (begun === undefined) throw new Error('the database told no time');
      return work(tx, begun.now);
    });
  } finally {
    const next = turns.waiting.shift();
    if (next !== undefined) next();
    else if ((turns.running -= 1) === 0) db.turns.delete(customerId);
  }
}
