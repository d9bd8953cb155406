import { ServiceError } from '@lipsync/domain';
import { DATABASE_WAIT_MS, type Db } from './db';

/** Creates that go on alone, at once: few of the connections of a process, as each may wait for a lock. */
const AT_ONCE = 3;

type InTurn = <T>(customerId: string, create: () => Promise<T>) => Promise<T>;

const turnsOf = new WeakMap<Db['pool'], InTurn>();

/**
 * Runs a create that goes on alone: of each customer one after the other, as they would wait for each other anyway, and
 * few over all, so that whoever has to wait leaves connections to everybody else. One that waited for too long throws
 * service_unavailable: it was never begun.
 */
export function inTurn<T>(db: Db, customerId: string, create: () => Promise<T>): Promise<T> {
  const known = turnsOf.get(db.pool);
  if (known !== undefined) return known(customerId, create);
  const turns = takeTurns();
  turnsOf.set(db.pool, turns);
  return turns(customerId, create);
}

function takeTurns(): InTurn {
  const waiting: { customerId: string; begin: () => void }[] = [];
  const busy = new Set<string>();

  function beginNext(): void {
    while (busy.size < AT_ONCE) {
      const index = waiting.findIndex(({ customerId }) => !busy.has(customerId));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      busy.add(next.customerId);
      next.begin();
    }
  }

  return async (customerId, create) => {
    const since = performance.now();
    await new Promise<void>((begin) => {
      waiting.push({ customerId, begin });
      beginNext();
    });
    try {
      // Whoever is under way comes to an end, by the timeout of its lock or its statement: no timer is needed to see this.
      if (performance.now() - since >= DATABASE_WAIT_MS) throw new ServiceError('service_unavailable');
      return await create();
    } finally {
      busy.delete(customerId);
      beginNext();
    }
  };
}
