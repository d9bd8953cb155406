import { type Db } from '../postgres/db';
import { type Dispatch } from './admission';
import { type QueueName, queueName } from './queue-names';

/** A job that was announced in Redis and has not been claimed since. */
export interface OpenDispatch extends Dispatch {
  queue: QueueName;
}

/** The announcement follows the commit. Within this time it may simply not have been made yet. */
const SETTLE_SECONDS = 2;

export async function findOpenDispatches(db: Db, limit: number): Promise<OpenDispatch[]> {
  const rows = await db.prisma.$queryRaw<{ id: string; queue: string; dispatchSeq: number }[]>`
    SELECT id, queue, enqueue_seq AS "dispatchSeq" FROM jobs
    WHERE status = 'queued' AND enqueued_at < clock_timestamp() - make_interval(secs => ${SETTLE_SECONDS}::float8)
    ORDER BY enqueued_at LIMIT ${limit}::int`;
  return rows.map(({ id, queue, dispatchSeq }) => ({ jobId: id, queue: queueName(queue), dispatchSeq }));
}

/** Makes a job whose announcement was lost available to the next admission. */
export async function withdrawDispatch(db: Db, { jobId, dispatchSeq }: OpenDispatch): Promise<boolean> {
  const withdrawn = await db.prisma.$executeRaw`
    UPDATE jobs SET enqueued_at = NULL
    WHERE id = ${jobId} AND status = 'queued' AND enqueue_seq = ${dispatchSeq}::int AND enqueued_at IS NOT NULL`;
  return withdrawn === 1;
}
