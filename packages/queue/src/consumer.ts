import { setTimeout as delay } from 'node:timers/promises';
import { type Logger } from '@lipsync/runtime';
import { createAnnouncementBell } from './announcement-bell';
import { createAnnouncementSource, type TakenAnnouncement } from './announcement-source';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis-connection';
import { withTimeout } from './with-timeout';

export interface ConsumerOptions<Queue extends string = string> {
  redisUrl: string;
  /** Asked in turn. */
  queues: readonly Queue[];
  /** Jobs at once, over all queues. What is announced beyond that stays in Redis for workers with a hand free. */
  concurrency: number;
  logger: Logger;
  /**
   * Works on an announced job. It must claim the job first: an announcement may be stale or made twice. What it throws
   * is logged and the announcement dropped; the job's row says what happens next. The signal is aborted when the
   * consumer closes and its grace is over. A lock lost in Redis does not abort it: the lease in Postgres decides.
   */
  process: (jobId: string, signal: AbortSignal, queue: Queue) => Promise<void>;
  prefix?: string;
}

/** The consuming side of one or more queues. It outlives any outage of Redis. */
export interface Consumer {
  start(): void;
  /**
   * Takes no more jobs, waits for the running ones up to `graceMs`, then aborts them and waits for them to return.
   * Does not wait for a Redis that is away.
   */
  close(options: { graceMs: number }): Promise<void>;
  /**
   * For how many milliseconds it has got no answer from Redis (a refusal is one) and not connected to it, though it was
   * started, has a hand free and is not closing: for liveness.
   */
  silentMs(): number;
}

/** How soon after a failed fetch the next one is tried. */
const FETCH_RETRY_MS = 1_000;
/** How long Redis may take to hear what became of the last announcements. It learns it otherwise from their locks. */
const SETTLE_MS = 1_000;

export function createConsumer<Queue extends string>(options: ConsumerOptions<Queue>): Consumer {
  const { redisUrl, queues, concurrency, logger, prefix = DEFAULT_PREFIX } = options;
  const stop = new AbortController();
  const graceOver = new AbortController();
  const redis = connectRedis(redisUrl, workerOptions(), { logger, name: 'consumer' });
  const bell = createAnnouncementBell({ redisUrl, logger });
  /** What is being worked on or removed from Redis. */
  const hands = new Set<Promise<void>>();
  /** What is being worked on. */
  const handlers = new Set<Promise<void>>();
  let answeredAtMs = performance.now();
  // A connection that was just made is not wedged, even if everything is refused on it and it is soon made again.
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

  /** The queue that is asked next stands first. */
  const sources = queues.map((queue) =>
    createAnnouncementSource({
      ...{ queue, prefix, redis, logger },
      process: (jobId) => track(handlers, options.process(jobId, graceOver.signal, queue)),
    }),
  );

  /** True when there was something to take. */
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

  /** Who took a mark must look there first: nobody else is told of what it stands for. */
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
        // A Redis that is full or still loads refuses, and that is an answer.
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
      // One may have been about to begin.
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
