import { createOutageNotice, type Logger } from '@lipsync/runtime';
import { type Announcement } from './queues';
import { withTimeout } from './with-timeout';

export interface DoorbellOptions<Queue extends string> {
  /** Chooses the jobs of a queue that may be announced now, and marks them so. */
  admit: (queue: Queue) => Promise<readonly Announcement[]>;
  add: (queue: Queue, announcement: Announcement) => Promise<void>;
  /** For a caller that has something else to do. What was begun goes on, with the connection that it holds. */
  deadlineMs?: number;
  logger: Logger;
}

type Notice = ReturnType<typeof createOutageNotice>;

/**
 * Announces what may be announced in a queue. Best effort: a ring never rejects and is back after `deadlineMs` if there
 * is one, for whatever was not announced is found by the reconciler. Answers how many jobs were announced until then.
 * While a queue's rings fail, the first one is logged, and the one that succeeds again: several are rung every second.
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
