import { type Logger } from '@lipsync/runtime';
import { Queue } from 'bullmq';
import { cancelChannel } from './cancel-signal';
import { type JobData } from './job-data';
import { connectRedis, DEFAULT_PREFIX, producerOptions } from './redis-connection';
import { withTimeout } from './with-timeout';

/**
 * One announcement of a job. A later announcement of the same job has a greater number and therefore another id in
 * Redis.
 */
export interface Announcement {
  jobId: string;
  dispatchSeq: number;
}

/** The producing side. Every call settles within 3 s. */
export interface Queues {
  add(queue: string, announcement: Announcement): Promise<void>;
  /** Whether the announcement is waiting or active. */
  isQueued(queue: string, jobId: string, dispatchSeq: number): Promise<boolean>;
  /** Tells the workers of these jobs to stop now. Without it they find out at their next heartbeat. */
  signalCancel(jobIds: readonly string[]): Promise<void>;
  /** Resolves if Redis answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface QueuesOptions {
  redisUrl: string;
  logger: Logger;
  prefix?: string;
}

const DEADLINE_MS = 3_000;
const OPEN_STATES: readonly string[] = ['active', 'waiting', 'delayed', 'prioritized', 'waiting-children'];

export function createQueues({ redisUrl, logger, prefix = DEFAULT_PREFIX }: QueuesOptions): Queues {
  const redis = connectRedis(redisUrl, producerOptions(), { logger, name: 'queues' });
  const queues = new Map<string, Promise<Queue<JobData>>>();

  /** If the setup of a queue fails (for instance because Redis went away), the next call repeats it. */
  function queueOf(name: string): Promise<Queue<JobData>> {
    const known = queues.get(name);
    if (known) return known;
    const opened = openQueue(name);
    queues.set(name, opened);
    opened.catch(() => queues.delete(name));
    return opened;
  }

  async function openQueue(name: string): Promise<Queue<JobData>> {
    // BullMQ reads the server's version when a queue is created, and never again if that fails.
    if (redis.status !== 'ready') throw new Error('redis is away');
    const queue = new Queue<JobData>(name, { connection: redis, prefix });
    queue.on('error', (error) => logger.debug('queue error', { queue: name, error }));
    await queue.waitUntilReady();
    return queue;
  }

  return {
    add: (name, { jobId, dispatchSeq }) =>
      withTimeout(`add to ${name}`, DEADLINE_MS, addJob(queueOf(name), jobId, dispatchSeq)),
    isQueued: (name, jobId, dispatchSeq) =>
      withTimeout(`look into ${name}`, DEADLINE_MS, isOpen(queueOf(name), redisJobId(jobId, dispatchSeq))),
    signalCancel: async (jobIds) => {
      if (jobIds.length === 0) return;
      await withTimeout('cancel', DEADLINE_MS, redis.publish(cancelChannel(prefix), JSON.stringify(jobIds)));
    },
    ping: async () => {
      await withTimeout('ping', DEADLINE_MS, redis.ping());
    },
    close: async () => {
      await Promise.allSettled([...queues.values()].map(async (queue) => (await queue).close()));
      redis.disconnect();
    },
  };
}

async function addJob(queue: Promise<Queue<JobData>>, jobId: string, dispatchSeq: number): Promise<void> {
  const opened = await queue;
  // Not kept once done: Redis ignores the addition of a job whose id it still remembers.
  const options = { jobId: redisJobId(jobId, dispatchSeq), removeOnComplete: true, removeOnFail: true };
  await opened.add('job', { job_id: jobId }, options);
}

async function isOpen(queue: Promise<Queue<JobData>>, id: string): Promise<boolean> {
  const opened = await queue;
  return OPEN_STATES.includes(await opened.getJobState(id));
}

function redisJobId(jobId: string, dispatchSeq: number): string {
  return `${jobId}-${dispatchSeq}`;
}
