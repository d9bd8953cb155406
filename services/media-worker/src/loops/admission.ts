import { admitJobs, type Db, QUEUE_NAMES, type QueueName } from '@lipsync/db';
import { createDoorbell, type Queues } from '@lipsync/queue';
import { type Logger } from '@lipsync/runtime';

const RING_DEADLINE_MS = 3_000;

/**
 * One round of admission: for every queue, announces in Redis the jobs that its workers can soon take. While Redis is
 * away nothing is admitted, because it could not be announced. Rejects when Redis or the database is away.
 */
export function createAdmission(
  db: Db,
  queues: Pick<Queues, 'add' | 'ping'>,
  logger: Logger,
): () => Promise<void> {
  const ring = createDoorbell<QueueName>({
    admit: (queue) => admitJobs(db, queue),
    add: (queue, announcement) => queues.add(queue, announcement),
    deadlineMs: RING_DEADLINE_MS,
    logger,
  });
  return async () => {
    await queues.ping();
    for (const queue of QUEUE_NAMES) await ring(queue);
  };
}
