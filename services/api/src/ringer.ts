import { setTimeout as delay } from 'node:timers/promises';
import { type QueueName } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';

/** Tells workers, after the response, that there is work to do. */
export interface Ringer {
  /** Returns at once and never fails: the reconciler rings later for whatever this misses. */
  ring(queues: Iterable<QueueName>): void;
  /** Resolves when no ring is in progress; a shutdown waits for this before it closes connections. */
  idle(): Promise<void>;
}

/**
 * Pause between two rounds: a worker hears of the first request at once, and a busy service rings a few times a second.
 */
const PAUSE_MS = 100;

/**
 * Rings one queue at a time: only one admission runs at a time anyway, and each ring holds a connection from the pool
 * that serves requests. Queues named during a ring or in the pause after a round share the next round, which starts
 * after their commits and so sees their jobs. A burst of creates costs a few rings, not one each.
 *
 * @param ringQueue admits the queue's waiting jobs and adds them to Redis; settles when that is completely done
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
