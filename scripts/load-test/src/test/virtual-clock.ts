import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock } from '../callers/open-loop';

interface Waiter {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that stands still until everyone waits for it, and then jumps to the earliest time waited for. */
interface VirtualClock extends Clock {
  /** Lets time pass until the work is done. */
  run<T>(work: Promise<T>): Promise<T>;
}

/** Turns of the event loop after which nothing more happens on its own. */
const TURNS = 3;

export function createVirtualClock(): VirtualClock {
  let time = 0;
  let waiters: Waiter[] = [];
  return {
    now: () => time,
    until: (at, signal) =>
      new Promise((resolve) => {
        if (at <= time || signal?.aborted === true) return resolve();
        const giveUp = (): void => {
          waiters = waiters.filter((other) => other !== waiter);
          resolve();
        };
        const waiter = {
          at,
          wake: () => {
            signal?.removeEventListener('abort', giveUp);
            resolve();
          },
        };
        waiters.push(waiter);
        signal?.addEventListener('abort', giveUp, { once: true });
      }),
    async run(work) {
      let isDone = false;
      const settled = work.finally(() => {
        isDone = true;
      });
      // Whoever awaits the result handles the rejection.
      settled.catch(() => undefined);
      for (;;) {
        for (let turn = 0; turn < TURNS; turn++) await nextTurn();
        if (isDone) return settled;
        const first = waiters.reduce<Waiter | null>(
          (earliest, waiter) => (earliest === null || waiter.at < earliest.at ? waiter : earliest),
          null,
        );
        if (first === null) throw new Error('nobody waits for the clock, and the work is not done');
        waiters = waiters.filter((waiter) => waiter !== first);
        time = first.at;
        first.wake();
      }
    },
  };
}
