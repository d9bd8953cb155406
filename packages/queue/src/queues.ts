import { type Logger } from '@lipsync/runtime';
import { type Job, type JobType, Queue } from 'bullmq';
import { connectRedis, DEFAULT_PREFIX, producerOptions, withTimeout } from './redis';
import { cancelChannel, wakeChannel } from './signals';

/** One message about a job. A later one about the same job has a greater number and therefore another id in Redis. */
export interface JobMessage {
  jobId: string;
  enqueueSeq: number;
}

/** The data of a message in Redis. Everything else about its job is in Postgres. */
export interface JobData {
  job_id: string;
}

/** The producing side. No request waits for Redis for more than 3 s. */
export interface Queues {
  /** Adds a message and wakes the workers of the queue up. */
  add(queue: string, message: JobMessage): Promise<void>;
  /** Whether the message is waiting or locked by a worker that has not claimed the job yet. */
  isQueued(queue: string, jobId: string, enqueueSeq: number): Promise<boolean>;
  /** The jobs of all messages of a queue. */
  listJobs(queue: string): Promise<string[]>;
  /** Removes the messages of these jobs, except for one that a worker is just taking, which removes it itself. */
  removeJobs(queue: string, jobIds: readonly string[]): Promise<void>;
  /** Tells the workers of these jobs to stop now. Without it they find out at their next heartbeat. */
  signalCancel(jobIds: readonly string[]): Promise<void>;
  /** Resolves if Redis answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface QueuesOptions {
  redisUrl: string;
  logger: Logger;
  prefix?: string;
}

const DEADLINE_MS = 3_000;
const OPEN_STATES = [
  'active',
  'waiting',
  'delayed',
  'prioritized',
  'waiting-children',
] as const satisfies readonly JobType[];

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

  async function messagesOf(name: string): Promise<Job<JobData>[]> {
    return (await queueOf(name)).getJobs([...OPEN_STATES]);
  }

  async function addMessage(name: string, id: string, data: JobData): Promise<void> {
    const queue = await queueOf(name);
    // Not kept once done: Redis ignores the addition of a job whose id it still remembers.
    await queue.add('job', data, { jobId: id, removeOnComplete: true, removeOnFail: true });
    // The message is there: its workers find it within seconds in any case.
    await redis.publish(wakeChannel(prefix), name).catch((error: unknown) => {
      logger.debug('workers not woken up', { queue: name, error });
    });
  }

  return {
    add: (name, { jobId, enqueueSeq }) =>
      withTimeout(
        `add to ${name}`,
        DEADLINE_MS,
        addMessage(name, redisJobId(jobId, enqueueSeq), { job_id: jobId }),
      ),
    isQueued: (name, jobId, enqueueSeq) =>
      withTimeout(`look into ${name}`, DEADLINE_MS, isOpen(queueOf(name), redisJobId(jobId, enqueueSeq))),
    listJobs: async (name) => {
      const messages = await withTimeout(`list ${name}`, DEADLINE_MS, messagesOf(name));
      return messages.map(({ data }) => data.job_id);
    },
    removeJobs: async (name, jobIds) => {
      const those = new Set(jobIds);
      const messages = await withTimeout(`list ${name}`, DEADLINE_MS, messagesOf(name));
      // Listing has opened it.
      const queue = await queueOf(name);
      for (const { id, data } of messages)
        if (id !== undefined && those.has(data.job_id))
          await withTimeout(`remove from ${name}`, DEADLINE_MS, queue.remove(id));
    },
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

async function isOpen(queue: Promise<Queue<JobData>>, id: string): Promise<boolean> {
  const opened = await queue;
  const state = await opened.getJobState(id);
  return OPEN_STATES.some((open) => open === state);
}

function redisJobId(jobId: string, enqueueSeq: number): string {
  return `${jobId}-${enqueueSeq}`;
}
