import { type Logger } from '@lipsync/runtime';
import { connectRedis, workerOptions } from './redis-connection';
import { withTimeout } from './with-timeout';

/** Waits for an announcement in one of several queues. */
export interface AnnouncementBell {
  /**
   * Resolves to the marker key of a queue with a new announcement, or to undefined after some seconds, because another
   * worker may have taken a marker and been unable to act on it. Rejects if Redis refuses, or when closed.
   */
  wait(markerKeys: readonly string[]): Promise<string | undefined>;
  close(): void;
}

const WAIT_SECONDS = 5;
/** If Redis has not ended a wait by then, the wait and its connection are lost. */
const OVERDUE_MS = 7_000;

/** Uses a connection of its own, because Redis answers nothing else on it during a blocking wait. */
export function createAnnouncementBell(options: { redisUrl: string; logger: Logger }): AnnouncementBell {
  const redis = connectRedis(options.redisUrl, workerOptions(), { logger: options.logger, name: 'bell' });
  let asked: Promise<[string, string, string] | null> | undefined;

  return {
    wait: async (markerKeys) => {
      // An overdue wait is not sent again, because the client repeats it until Redis is back.
      asked ??= redis.bzpopmin(...markerKeys, WAIT_SECONDS).finally(() => (asked = undefined));
      const [key] = (await withTimeout('announcements', OVERDUE_MS, asked)) ?? [];
      return key;
    },
    close: () => redis.disconnect(),
  };
}
