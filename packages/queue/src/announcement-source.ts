import { randomUUID } from 'node:crypto';
import { type Logger } from '@lipsync/runtime';
import { createRedisBackend, type Job, Worker } from 'bullmq';
import { type Redis } from 'ioredis';
import { type JobData } from './job-data';

/** One queue, as its consumer sees it: asked for announcements one at a time, and only when there is a hand free. */
export interface AnnouncementSource {
  /** The Redis key in which an announcement leaves a mark that it is there. */
  readonly markerKey: string;
  /** Begins to renew locks, and to make available again what dead workers had taken. */
  begin(): void;
  /** Takes the oldest announcement, or undefined if there is none. While Redis is away, it waits for Redis. */
  take(): Promise<TakenAnnouncement | undefined>;
  /** Stops without waiting for Redis. */
  close(): Promise<void>;
}

/** An announcement that no other worker can take while it is here. */
export interface TakenAnnouncement {
  /** Has it worked on, then removes it from Redis, whatever came of it. */
  work(): Promise<void>;
  /** Leaves it to another worker. */
  putBack(): Promise<void>;
}

export interface AnnouncementSourceOptions {
  queue: string;
  prefix: string;
  redis: Redis;
  logger: Logger;
  process: (jobId: string) => Promise<void>;
}

const LOCK_MS = 15_000;
const STALLED_INTERVAL_MS = 7_500;
/** The true bound is the attempts counted in Postgres; Redis shall only not be the one to give up first. */
const STALLED_MAX = 10;
/** How soon after a removal that failed it is tried again. */
const SETTLE_RETRY_MS = 1_000;

/** BullMQ's worker without its own loop, which takes an announcement before it is known who could work on it. */
class HandFedWorker extends Worker<JobData> {
  begin(): void {
    this.lockManager.start();
    // Reports its failures as events.
    void this.startStalledCheckTimer();
  }
}

export function createAnnouncementSource(options: AnnouncementSourceOptions): AnnouncementSource {
  const { queue, prefix, redis, logger, process } = options;
  const worker = new HandFedWorker(
    queue,
    ({ data }) => process(data.job_id),
    {
      ...{ connection: redis, prefix, autorun: false },
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_INTERVAL_MS,
      maxStalledCount: STALLED_MAX,
      runRetryDelay: SETTLE_RETRY_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
    // Without the connection for blocking fetches that a worker opens by default: nothing here blocks.
    (name, settings) => createRedisBackend(name, settings),
  );
  worker.on('error', (error) => logger.warn('consumer error', { queue, error }));
  worker.on('failed', (job, error) =>
    logger.error('job handler failed', { queue, job_id: job?.data.job_id, error }),
  );
  worker.on('lockRenewalFailed', (ids) =>
    logger.warn('redis locks not renewed', { queue, announcements: ids }),
  );

  return {
    markerKey: worker.toKey('marker'),
    begin: () => worker.begin(),
    take: async () => {
      const token = randomUUID();
      // BullMQ's own type leaves out that there may be none.
      const job: Job<JobData> | undefined = await worker.getNextJob(token, { block: false });
      if (!job) return undefined;
      return {
        work: async () => {
          await worker.processJob(job, token, () => false);
        },
        putBack: async () => {
          await job.moveToWait(token);
        },
      };
    },
    close: () => worker.close(true),
  };
}
