import { admitJobs, type Db, QUEUE_NAMES } from '@lipsync/db';
import { type Queues, ringQueue } from '@lipsync/queue';
import { type Logger } from '@lipsync/runtime';

const RING_DEADLINE_MS = 3_000;

/**
 * One round of admission: for every queue, the jobs that its workers can soon take are announced in Redis. While Redis
 * is away nothing is admitted, for it could not be announced. Rejects then, or when the database is away.
 */
export async function admitAll(db: Db, queues: Pick<Queues, 'add' | 'ping'>, logger: Logger): Promise<void> {
  await queues.ping();
  for (const queue of QUEUE_NAMES) {
    await ringQueue({
      admit: () => admitJobs(db, queue),
      add: (announcement) => queues.add(queue, announcement),
      deadlineMs: RING_DEADLINE_MS,
      logger,
    });
  }
}
