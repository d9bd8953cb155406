import { setTimeout as delay } from 'node:timers/promises';
import { type QueueName } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';

/** Tells workers, after the answer, that there is something to do. */
export interface Ringer {
  /** Returns at once and never fails: whatever is not rung now, the reconciler rings later. */
  ring(queues: Iterable<QueueName>): void;
  /** Resolves when nothing is being rung: what a shutdown waits for before it closes connections. */
  idle(): Promise<void>;
}

/** Between two rounds: a worker hears the first request at once, and a busy service rings a few times a second. */
const PAUSE_MS = 100;

/**
 * One ring at a time: admission lets in no more, and each holds a connection of the pool that requests are answered with.
 * Queues that are named meanwhile, or in the pause after a round, share the next round, which starts after their commit
 * and so sees their jobs. A burst of creates costs a few rings, not one each.
 *
 * @param ringQueue admits waiting jobs of the queue and adds them to Redis; settles when nothing of that goes on
 */
export function createRinger(deps: {
  ringQueue: (queue: QueueName) => Promise<void>;
  pauseMs?: number;
  logger: Logger;
}): Ringer {
  const { pauseMs = PAUSE_MS } = deps;
  const wanted = new Set<QueueName>();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (wanted.size > 0) {
      for (const queue of [...wanted]) {
        wanted.delete(queue);
        await ringOne(queue);
      }
      await delay(pauseMs);
    }
    running = undefined;
  }

  async function ringOne(queue: QueueName): Promise<void> {
    try {
      await deps.ringQueue(queue);
    } catch (error) {
      deps.logger.warn('could not ring a queue; the reconciler will', { queue, error });
    }
  }

  return {
    ring: (queues) => {
      for (const queue of queues) wanted.add(queue);
      if (wanted.size > 0) running ??= run();
    },
    idle: async () => {
      await running;
    },
  };
}
