import { setTimeout as delay } from 'node:timers/promises';
import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type JobMessage } from './queues';

/** Puts jobs that wait in Postgres into Redis. Best effort: the next round of a media-worker finds what this misses. */
export type Enqueuer<Queue extends string> = ReturnType<typeof createEnqueuer<Queue>>;

/**
 * Pause between two rounds of `enqueueSoon`: a worker hears of the first request at once, and a busy service enqueues a
 * few times a second.
 */
const PAUSE_MS = 100;

export function createEnqueuer<Queue extends string>(deps: {
  /** Chooses the jobs of a queue that may go to Redis now, and marks them as enqueued. */
  choose: (queue: Queue) => Promise<readonly JobMessage[]>;
  add: (queue: Queue, message: JobMessage) => Promise<void>;
  logger: Logger;
  pauseMs?: number;
}) {
  const { choose, add, logger, pauseMs = PAUSE_MS } = deps;
  const notices = new Map<Queue, ReturnType<typeof createOutageNotice>>();
  const wanted = new Set<Queue>();
  let rounds: Promise<void> | undefined;

  /**
   * Enqueues the jobs of a queue that its workers can soon take. Never rejects. When a queue fails, only the first
   * failure and the next success are logged, because there are several attempts every second.
   */
  async function enqueue(queue: Queue): Promise<void> {
    const notice = noticeOf(queue);
    try {
      const messages = await choose(queue);
      const results = await Promise.allSettled(messages.map((message) => add(queue, message)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      notice.worked();
    } catch (error) {
      notice.failed(error);
    }
  }

  function noticeOf(queue: Queue): ReturnType<typeof createOutageNotice> {
    const known = notices.get(queue);
    if (known) return known;
    const made = createOutageNotice({
      begins: (error) => logger.warn('not all jobs were enqueued', { queue, error }),
      ends: () => logger.info('jobs are enqueued again', { queue }),
    });
    notices.set(queue, made);
    return made;
  }

  /** One queue at a time: Postgres chooses for one at a time anyway, and each holds a connection of the pool. */
  async function enqueueWanted(): Promise<void> {
    while (wanted.size > 0) {
      for (const queue of [...wanted]) {
        wanted.delete(queue);
        await enqueue(queue);
      }
      await delay(pauseMs);
    }
    rounds = undefined;
  }

  return {
    enqueue,
    /**
     * Returns at once. Queues named during a round or in the pause after it share the next one, which starts after
     * their commits and so sees their jobs: a burst of creates costs a few rounds, not one each.
     */
    enqueueSoon: (queues: Iterable<Queue>): void => {
      for (const queue of queues) wanted.add(queue);
      if (wanted.size > 0) rounds ??= enqueueWanted();
    },
    /** Resolves when no round is in progress; a shutdown waits for this before it closes connections. */
    idle: async (): Promise<void> => {
      await rounds;
    },
  };
}
