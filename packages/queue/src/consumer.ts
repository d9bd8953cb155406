import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger } from '@lipsync/runtime';
import { createAnnouncementBell } from './announcement-bell';
import { createAnnouncementSource, type TakenAnnouncement } from './announcement-source';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis-connection';
import { withTimeout } from './with-timeout';

export interface ConsumerOptions<Queue extends string = string> {
  redisUrl: string;
  /** Queues to serve, in turn. */
  queues: readonly Queue[];
  /**
   * Maximum number of concurrent jobs over all queues. Further announcements stay in Redis for workers with a free
   * slot.
   */
  concurrency: number;
  logger: Logger;
  /**
   * Works on an announced job. Must claim the job first, because an announcement may be stale or duplicate. An error is
   * logged and the announcement dropped; the job's row decides what happens next. The signal is aborted when the
   * consumer closes and its grace period is over. A lock lost in Redis does not abort it, because the lease in Postgres
   * decides.
   */
  process: (jobId: string, signal: AbortSignal, queue: Queue) => Promise<void>;
  prefix?: string;
}

/** The consuming side of one or more queues. It survives any outage of Redis. */
export interface Consumer {
  start(): void;
  /**
   * Takes no more jobs, waits up to `graceMs` for the running ones, then aborts them and waits for them to return. Does
   * not wait for an unavailable Redis.
   */
  close(options: { graceMs: number }): Promise<void>;
  /**
   * Milliseconds since Redis last answered (a refusal counts) or was connected to. 0 before the start, without a free
   * slot and during closing. For liveness.
   */
  silentMs(): number;
}

/** Delay before a failed fetch is repeated. */
const FETCH_RETRY_MS = 1_000;
/** How long to wait while the outcome of the last announcements is sent to Redis. Otherwise their locks expire. */
const SETTLE_MS = 1_000;

export function createConsumer<Queue extends string>(options: ConsumerOptions<Queue>): Consumer {
  const { redisUrl, queues, concurrency, logger, prefix = DEFAULT_PREFIX } = options;
  const stop = new AbortController();
  const graceOver = new AbortController();
  // Every job listens to it, in several places.
  setMaxListeners(0, graceOver.signal);
  const redis = connectRedis(redisUrl, workerOptions(), { logger, name: 'consumer' });
  const bell = createAnnouncementBell({ redisUrl, logger });
  /** Announcements being processed or being removed from Redis. */
  const hands = new Set<Promise<void>>();
  /** Announcements being processed. */
  const handlers = new Set<Promise<void>>();
  let answeredAtMs = performance.now();
  // A new connection is not wedged, even if Redis refuses everything on it and it is soon replaced.
  redis.on('ready', answered);
  let loop: Promise<void> | undefined;

  function answered(): void {
    answeredAtMs = performance.now();
  }

  async function track(set: Set<Promise<void>>, work: Promise<void>): Promise<void> {
    set.add(work);
    try {
      await work;
    } finally {
      set.delete(work);
    }
  }

  /** The queue to ask next comes first. */
  const sources = queues.map((queue) =>
    createAnnouncementSource({
      ...{ queue, prefix, redis, logger },
      process: (jobId) => track(handlers, options.process(jobId, graceOver.signal, queue)),
    }),
  );

  /** Takes one announcement. Returns false if there was none. */
  async function takeOne(): Promise<boolean> {
    for (const source of sources) {
      const taken = await source.take();
      answered();
      if (!taken) continue;
      sources.splice(sources.indexOf(source), 1);
      sources.push(source);
      if (stop.signal.aborted) await taken.putBack();
      else hold(taken);
      return true;
    }
    return false;
  }

  function hold(taken: TakenAnnouncement): void {
    const work = taken.work().catch((error: unknown) => logger.warn('announcement not removed', { error }));
    void track(hands, work);
  }

  /**
   * The worker that took a marker must look in that queue first, because no other worker is told of the announcement.
   */
  async function waitForOne(): Promise<void> {
    const key = await bell.wait(sources.map((source) => source.markerKey));
    sources.sort((a, b) => Number(b.markerKey === key) - Number(a.markerKey === key));
  }

  async function fetchWhileHandsAreFree(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (hands.size >= concurrency) await Promise.race(hands);
        else if (!(await takeOne())) await waitForOne();
      } catch (error) {
        if (stop.signal.aborted) return;
        // A refusal by a Redis that is full or still loading is an answer.
        if (error instanceof Error && error.name === 'ReplyError') answered();
        logger.warn('announcements not fetched', { error });
        await delay(FETCH_RETRY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  }

  return {
    start: () => {
      if (sources.length === 0) return;
      answered();
      for (const source of sources) source.begin();
      loop = fetchWhileHandsAreFree();
    },
    close: async ({ graceMs }) => {
      stop.abort();
      bell.close();
      const timer = setTimeout(() => graceOver.abort(), graceMs);
      await Promise.allSettled(handlers);
      await withTimeout('settling', SETTLE_MS, Promise.allSettled([loop, ...hands])).catch((error: unknown) =>
        logger.debug('redis was not told of the last announcements', { error }),
      );
      // A handler may just have been about to begin.
      await Promise.allSettled(handlers);
      clearTimeout(timer);
      await Promise.all(sources.map((source) => source.close()));
      redis.disconnect();
    },
    silentMs: () =>
      loop === undefined || handlers.size >= concurrency || stop.signal.aborted
        ? 0
        : performance.now() - answeredAtMs,
  };
}
