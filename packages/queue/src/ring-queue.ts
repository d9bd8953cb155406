import { type Logger } from '@lipsync/runtime';
import { type Announcement } from './queues';
import { withTimeout } from './with-timeout';

export interface RingOptions {
  /** Chooses the jobs that may be announced now, and marks them so. */
  admit: () => Promise<readonly Announcement[]>;
  add: (announcement: Announcement) => Promise<void>;
  /** For a caller that has something else to do. What was begun goes on, with the connection that it holds. */
  deadlineMs?: number;
  logger: Logger;
}

/**
 * Announces what may be announced. Best effort: it never rejects and is back after `deadlineMs` if there is one, for
 * whatever was not announced is found by the reconciler. Returns how many jobs were announced until then.
 */
export async function ringQueue({ admit, add, deadlineMs, logger }: RingOptions): Promise<number> {
  let announced = 0;
  const ring = async (): Promise<void> => {
    const additions = (await admit()).map(async (announcement) => {
      await add(announcement);
      announced += 1;
    });
    const failed = (await Promise.allSettled(additions)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  };
  try {
    await (deadlineMs === undefined ? ring() : withTimeout('ring', deadlineMs, ring()));
  } catch (error) {
    logger.warn('not all jobs were announced', { announced, error });
  }
  return announced;
}
