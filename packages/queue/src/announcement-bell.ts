import { type Logger } from '@lipsync/runtime';
import { connectRedis, workerOptions } from './redis-connection';
import { withTimeout } from './with-timeout';

/** Waits until something is announced in one of several queues. */
export interface AnnouncementBell {
  /**
   * Resolves to the marker key of a queue that has something new, or to undefined after some seconds: a mark may be
   * gone that another worker took and could not act on. Rejects when Redis refuses, or when it is closed.
   */
  wait(markerKeys: readonly string[]): Promise<string | undefined>;
  close(): void;
}

const WAIT_SECONDS = 5;
/** A wait that Redis did not end itself by then is lost with its connection. */
const OVERDUE_MS = 7_000;

/** A connection of its own: while it waits, Redis answers nothing else on it. */
export function createAnnouncementBell(options: { redisUrl: string; logger: Logger }): AnnouncementBell {
  const redis = connectRedis(options.redisUrl, workerOptions(), { logger: options.logger, name: 'bell' });
  let asked: Promise<[string, string, string] | null> | undefined;

  return {
    wait: async (markerKeys) => {
      // An overdue question is not asked again on top: the client repeats it until Redis is back.
      asked ??= redis.bzpopmin(...markerKeys, WAIT_SECONDS).finally(() => (asked = undefined));
      const [key] = (await withTimeout('announcements', OVERDUE_MS, asked)) ?? [];
      return key;
    },
    close: () => redis.disconnect(),
  };
}
