import { ServiceError } from '@lipsync/domain';

/** Few of the connections of a process, as each may wait for a lock. */
const AT_ONCE = 3;

/** Runs work that may have to wait for a lock of this customer's. */
export type RunExclusive = <T>(customerId: string, work: () => Promise<T>) => Promise<T>;

/**
 * A mutex for each customer and a semaphore over all, for work that may have to wait for a customer's lock: of each
 * customer one after the other, as they would wait for each other anyway, and few over all, so that whoever has to wait
 * leaves connections to everybody else. What waited here for `waitMs` throws service_unavailable: it was never begun.
 */
export function createCustomerMutex(waitMs: number): RunExclusive {
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

  return async (customerId, work) => {
    const since = performance.now();
    await new Promise<void>((begin) => {
      waiting.push({ customerId, begin });
      beginNext();
    });
    try {
      // Whoever is under way comes to an end, by the timeout of its lock or its statement: no timer is needed to see this.
      if (performance.now() - since >= waitMs) throw new ServiceError('service_unavailable');
      return await work();
    } finally {
      busy.delete(customerId);
      beginNext();
    }
  };
}
