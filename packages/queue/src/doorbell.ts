import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type Announcement } from './queues';
import { withTimeout } from './with-timeout';

export interface DoorbellOptions<Queue extends string> {
  /** Chooses the jobs of a queue that may be announced now, and marks them as announced. */
  admit: (queue: Queue) => Promise<readonly Announcement[]>;
  add: (queue: Queue, announcement: Announcement) => Promise<void>;
  /**
   * For a caller that has other work to do. After the deadline, a ring already begun continues and keeps its
   * connection.
   */
  deadlineMs?: number;
  logger: Logger;
}

type Notice = ReturnType<typeof createOutageNotice>;

/**
 * Announces the jobs of a queue that may be announced. Best effort: a ring never rejects and returns after
 * `deadlineMs`, if set, because the reconciler finds every job that was not announced. Returns how many jobs were
 * announced by then. When a queue's rings fail, only the first failure and the next success are logged, because there
 * are several rings every second.
 */
export function createDoorbell<Queue extends string>(
  options: DoorbellOptions<Queue>,
): (queue: Queue) => Promise<number> {
  const { admit, add, deadlineMs, logger } = options;
  const notices = new Map<Queue, Notice>();

  function noticeOf(queue: Queue): Notice {
    const known = notices.get(queue);
    if (known) return known;
    const made = createOutageNotice({
      begins: (error) => logger.warn('not all jobs were announced', { queue, error }),
      ends: () => logger.info('jobs are announced again', { queue }),
    });
    notices.set(queue, made);
    return made;
  }

  return async (queue) => {
    let announced = 0;
    const ring = async (): Promise<void> => {
      const additions = (await admit(queue)).map(async (announcement) => {
        await add(queue, announcement);
        announced += 1;
      });
      const failed = (await Promise.allSettled(additions)).find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    };
    try {
      await (deadlineMs === undefined ? ring() : withTimeout('ring', deadlineMs, ring()));
      noticeOf(queue).worked();
    } catch (error) {
      noticeOf(queue).failed(error);
    }
    return announced;
  };
}
