import { type Logger } from '@lipsync/runtime';
import { ObservedWorker } from './observed-worker';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis-connection';

export interface ConsumerOptions {
  redisUrl: string;
  queue: string;
  /** Jobs at once. */
  concurrency: number;
  logger: Logger;
  /**
   * Works on an announced job. It must claim the job first: an announcement may be stale or made twice. What it throws
   * is logged and the announcement dropped; the job's row says what happens next. The signal is aborted when the
   * consumer closes and its grace is over. A lock lost in Redis does not abort it: the lease in Postgres decides.
   */
  process: (jobId: string, signal: AbortSignal) => Promise<void>;
  prefix?: string;
}

/** The consuming side of one queue. It outlives any outage of Redis. */
export interface Consumer {
  start(): void;
  /** Takes no more jobs, waits for the running ones up to `graceMs`, then aborts them and waits for them to return. */
  close(options: { graceMs: number }): Promise<void>;
  /** When it last got an answer from Redis or had all hands full, in milliseconds since the epoch: for liveness. */
  lastActivityAt(): number;
}

interface JobData {
  job_id: string;
}

const LOCK_MS = 15_000;
const STALLED_INTERVAL_MS = 7_500;
/** The true bound is the attempts counted in Postgres; Redis shall only not be the one to give up first. */
const STALLED_MAX = 10;
const DRAIN_SECONDS = 5;
/** How soon after a failed fetch the next one is tried. */
const FETCH_RETRY_MS = 1_000;

export function createConsumer(options: ConsumerOptions): Consumer {
  const { queue, concurrency, logger } = options;
  const shutdown = new AbortController();
  const redis = connectRedis(options.redisUrl, workerOptions(), { logger, name: `consumer of ${queue}` });
  let running = 0;

  const worker = new ObservedWorker<JobData>(
    queue,
    async ({ data }) => {
      running += 1;
      try {
        await options.process(data.job_id, shutdown.signal);
      } finally {
        running -= 1;
      }
    },
    {
      // BullMQ duplicates it for its blocking fetches.
      connection: redis,
      prefix: options.prefix ?? DEFAULT_PREFIX,
      autorun: false,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_INTERVAL_MS,
      maxStalledCount: STALLED_MAX,
      drainDelay: DRAIN_SECONDS,
      runRetryDelay: FETCH_RETRY_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', (error) => logger.warn('consumer error', { queue, error }));
  worker.on('failed', (job, error) =>
    logger.error('job handler failed', { queue, job_id: job?.data.job_id, error }),
  );
  worker.on('lockRenewalFailed', (ids) =>
    logger.warn('redis locks not renewed', { queue, announcements: ids }),
  );

  return {
    start: () => {
      worker.run().catch((error: unknown) => logger.error('consumer stopped', { queue, error }));
    },
    close: async ({ graceMs }) => {
      const timer = setTimeout(() => shutdown.abort(), graceMs);
      await worker.close();
      clearTimeout(timer);
      redis.disconnect();
    },
    lastActivityAt: () => (running >= concurrency ? Date.now() : worker.lastAnswerAt()),
  };
}
