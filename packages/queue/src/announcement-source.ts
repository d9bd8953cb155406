import { randomUUID } from 'node:crypto';
import { type Logger } from '@lipsync/runtime';
import { createRedisBackend, type Job, Worker } from 'bullmq';
import { type Redis } from 'ioredis';
import { type JobData } from './job-data';

/** The announcements of one queue. Its consumer asks for them one at a time, and only with a free slot. */
export interface AnnouncementSource {
  /** The Redis key that marks that an announcement exists. */
  readonly markerKey: string;
  /** Begins to renew locks, and to release the announcements that dead workers had taken. */
  begin(): void;
  /** Takes the oldest announcement, or undefined if there is none. Waits while Redis is unavailable. */
  take(): Promise<TakenAnnouncement | undefined>;
  /** Stops without waiting for Redis. */
  close(): Promise<void>;
}

/** An announcement that this worker has locked against all others. */
export interface TakenAnnouncement {
  /** Processes it, then removes it from Redis, whatever the outcome. */
  work(): Promise<void>;
  /** Returns it to the queue for another worker. */
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
/** Attempts are limited in Postgres. Redis must just not give up earlier. */
const STALLED_MAX = 10;
/** Delay before a failed removal is tried again. */
const SETTLE_RETRY_MS = 1_000;

/** BullMQ's worker without its own loop, which would take an announcement before a free slot for it is known. */
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
    // Without the connection for blocking fetches that a worker opens by default, because nothing here blocks.
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
      // BullMQ's own type omits that there may be no job.
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
