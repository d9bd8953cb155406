import { randomUUID } from 'node:crypto';
import { type Logger } from '@lipsync/runtime';
import { type Job, Worker } from 'bullmq';
import { type JobData } from './queues';
import { connectRedis, DEFAULT_PREFIX, workerOptions } from './redis';
import { listen, wakeChannel } from './signals';

/** A message that this process has locked against all others. It tells which job to look at, and nothing else. */
export interface Message<Queue extends string = string> {
  readonly jobId: string;
  readonly queue: Queue;
  /** Removes it. Until then the reconciler considers the job enqueued. */
  remove(): Promise<void>;
  /** Returns it to the queue for another worker. */
  putBack(): Promise<void>;
}

/** How long a message stays locked: far longer than it takes to claim its job, after which it is removed. */
const LOCK_MS = 15_000;
/** Attempts are limited in Postgres. Redis must just not give up earlier. */
const STALLED_MAX = 10;
/**
 * Interval of looking without a wake-up: one that is published while this process is not connected is lost, and a
 * message that comes back from a dead worker wakes nobody up.
 */
const LOOK_MS = 5_000;

/** The messages of several queues, fetched by hand: https://docs.bullmq.io/patterns/manually-fetching-jobs. */
export function openMessages<Queue extends string>(options: {
  redisUrl: string;
  queues: readonly Queue[];
  logger: Logger;
  prefix?: string | undefined;
  /** If a worker dies before it removes a message, another one gets it after one to two times this long. */
  lockMs?: number;
  /** Called with the id of each job that is cancelled while Redis is reachable. */
  onCancelled?: ((jobId: string) => void) | undefined;
}) {
  const { redisUrl, queues, logger, prefix = DEFAULT_PREFIX, lockMs = LOCK_MS, onCancelled } = options;
  const redis = connectRedis(redisUrl, workerOptions(), { logger, name: 'consumer' });
  /** The queue to ask next comes first. */
  const fetchers = queues.map((queue) => ({ queue, worker: openWorker(queue) }));
  let answeredAtMs = performance.now();
  let isWoken = false;
  let endWait: (() => void) | undefined;
  let isStopped = false;

  const signals = listen(
    { redisUrl, logger, prefix },
    {
      onCancelled,
      onEnqueued: (queue) => {
        if (queues.some((own) => own === queue)) wake();
      },
    },
  );
  redis.on('ready', () => {
    // A new connection is not wedged, even if Redis refuses everything on it and it is soon replaced.
    answered();
    wake();
  });

  function openWorker(queue: Queue): Worker<JobData> {
    const worker = new Worker<JobData>(queue, null, {
      connection: redis,
      prefix,
      autorun: false,
      lockDuration: lockMs,
      stalledInterval: lockMs / 2,
      maxStalledCount: STALLED_MAX,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    // Failures that matter are reported elsewhere: an outage by the connection, a refusal to the caller of `take`.
    worker.on('error', (error) => logger.debug('error of a queue', { queue, error }));
    return worker;
  }

  function answered(): void {
    answeredAtMs = performance.now();
  }

  function wake(): void {
    isWoken = true;
    endWait?.();
  }

  return {
    /** Begins to return the messages that dead workers had locked. */
    start: (): void => {
      answered();
      // Reports its failures as events.
      for (const { worker } of fetchers) void worker.startStalledCheckTimer();
    },
    /**
     * Takes the oldest message of the first queue that has one, the queues in turn; undefined if all are empty. Waits
     * while Redis is unavailable, and rejects if Redis refuses.
     */
    take: async (): Promise<Message<Queue> | undefined> => {
      try {
        for (const fetcher of fetchers) {
          const token = randomUUID();
          // BullMQ's own type omits that there may be no job.
          const job: Job<JobData> | undefined = await fetcher.worker.getNextJob(token, { block: false });
          answered();
          if (!job) continue;
          fetchers.splice(fetchers.indexOf(fetcher), 1);
          fetchers.push(fetcher);
          return {
            jobId: job.data.job_id,
            queue: fetcher.queue,
            remove: async () => {
              await job.moveToCompleted(null, token, false);
            },
            putBack: async () => {
              await job.moveToWait(token);
              await redis.publish(wakeChannel(prefix), fetcher.queue);
            },
          };
        }
        return undefined;
      } catch (error) {
        // A refusal by a Redis that is full or still loading is an answer.
        if (error instanceof Error && error.name === 'ReplyError') answered();
        throw error;
      }
    },
    /** Resolves when there may be messages again: at the next wake-up, or after some seconds. */
    wait: (): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          endWait = undefined;
          isWoken = isStopped;
          resolve();
        };
        const timer = setTimeout(end, LOOK_MS);
        endWait = end;
        if (isWoken) end();
      }),
    /** Ends a wait, and all later ones. */
    stop: (): void => {
      isStopped = true;
      wake();
    },
    /** Milliseconds since Redis last answered (a refusal counts) or was connected to. */
    silentMs: (): number => performance.now() - answeredAtMs,
    /** Closes without waiting for Redis. */
    close: async (): Promise<void> => {
      signals.close();
      await Promise.all(fetchers.map(({ worker }) => worker.close(true)));
      redis.disconnect();
    },
  };
}
