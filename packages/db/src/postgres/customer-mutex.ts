import { ServiceError } from '@lipsync/domain';

/** Only a few of a process's connections, because each of these may wait for a lock. */
const AT_ONCE = 3;

/** Runs work that may have to wait for a lock on this customer's rows. */
export type RunExclusive = <T>(customerId: string, work: () => Promise<T>) => Promise<T>;

/**
 * A mutex for each customer and a semaphore over all, for work that may have to wait for a customer's lock. The work of
 * one customer runs in sequence, since it would wait for itself anyway. Few customers run at once, so that waiting for
 * locks leaves connections to everybody else. Work that waits here for `waitMs` fails with service_unavailable and is
 * never begun.
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
      // The running work ends by its lock or statement timeout at the latest, so no timer is needed to notice this.
      if (performance.now() - since >= waitMs) throw new ServiceError('service_unavailable');
      return await work();
    } finally {
      busy.delete(customerId);
      beginNext();
    }
  };
}
