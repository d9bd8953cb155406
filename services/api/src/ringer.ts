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

/** Between two rings of a queue: a worker hears the first request at once, and a busy service rings a few times a second. */
const PAUSE_MS = 100;

/**
 * At most one ring per queue is under way; requests that arrive meanwhile, or in the pause after it, share the next one,
 * which starts after their commit and so sees their jobs. A burst of creates costs a few rings, not one each.
 *
 * @param ringQueue admits waiting jobs of the queue and adds them to Redis, under a deadline of its own
 */
export function createRinger(deps: {
  ringQueue: (queue: QueueName) => Promise<void>;
  pauseMs?: number;
  logger: Logger;
}): Ringer {
  const { pauseMs = PAUSE_MS } = deps;
  const running = new Map<QueueName, Promise<void>>();
  const again = new Set<QueueName>();

  async function run(queue: QueueName): Promise<void> {
    do {
      again.delete(queue);
      try {
        await deps.ringQueue(queue);
      } catch (error) {
        deps.logger.warn('could not ring a queue; the reconciler will', { queue, error });
      }
      await delay(pauseMs);
    } while (again.has(queue));
    running.delete(queue);
  }

  return {
    ring: (queues) => {
      for (const queue of queues) {
        if (running.has(queue)) again.add(queue);
        else running.set(queue, run(queue));
      }
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}
