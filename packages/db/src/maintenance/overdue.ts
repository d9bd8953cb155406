import { type ErrorCode } from '@lipsync/contract';
import { QUEUE_NAMES, type QueueName } from '../dispatch/queue-names';
import { servedQueues } from '../dispatch/workers';
import { endPreparation } from '../jobs/end-preparation';
import { failOpenRuns } from '../jobs/end-records';
import { failSubject } from '../jobs/fail-subject';
import { lockPreparation, lockRender, lockSubject } from '../jobs/job';
import { databaseNow } from '../postgres/database-clock';
import { type Db, transaction } from '../postgres/db';

/** A record or job that must not wait any longer. */
export interface Overdue {
  kind: 'render' | 'preparation' | 'job';
  id: string;
  errorCode: ErrorCode;
}

/** Records that are still open after their deadline or their own expiry, and ingests that nothing else would end. */
export function findOverdueRecords(db: Db, deadlineSeconds: number, limit: number): Promise<Overdue[]> {
  return db.prisma.$queryRaw<Overdue[]>`
    WITH bound AS (SELECT clock_timestamp() - make_interval(secs => ${deadlineSeconds}::float8) AS earliest)
    SELECT kind, id, 'deadline_exceeded' AS "errorCode" FROM (
      SELECT 'render' AS kind, id FROM renders, bound
      WHERE completed_at IS NULL AND (created_at < earliest OR expires_at < now())
      UNION ALL
      SELECT 'preparation', id FROM preparations, bound
      WHERE completed_at IS NULL AND (created_at < earliest OR expires_at < now())
      UNION ALL
      SELECT 'job', id FROM jobs, bound
      WHERE queue = 'media' AND kind = 'ingest' AND status IN ('queued', 'running') AND created_at < earliest
    ) AS overdue LIMIT ${limit}::int`;
}

/** Jobs that have been due for longer than this, while no worker served their queue in all that time. */
export async function findUnserved(db: Db, deadlineSeconds: number, limit: number): Promise<Overdue[]> {
  // Jobs of a queue without a media-worker just wait: accepting URLs and uploads does not depend on an offered engine.
  const served = new Set<QueueName>(['media', ...(await servedQueues(db.prisma, deadlineSeconds))]);
  const unserved = QUEUE_NAMES.filter((queue) => !served.has(queue));
  return db.prisma.$queryRaw<Overdue[]>`
    SELECT 'job' AS kind, id, 'engine_unavailable' AS "errorCode" FROM jobs
    WHERE queue = ANY(${unserved}) AND status = 'queued'
      AND available_at < clock_timestamp() - make_interval(secs => ${deadlineSeconds}::float8)
    ORDER BY available_at LIMIT ${limit}::int`;
}

/** Fails it, unless it has ended in the meantime. */
export function failOverdue(db: Db, { kind, id, errorCode }: Overdue): Promise<boolean> {
  const failure = { errorCode };
  return transaction(db, async (tx) => {
    switch (kind) {
      case 'render': {
        const render = await lockRender(tx, id);
        if (render === null || render.completedAt !== null) return false;
        await failOpenRuns(db, tx, [render], failure, await databaseNow(tx));
        return true;
      }
      case 'preparation': {
        const preparation = await lockPreparation(tx, id);
        if (preparation === null || preparation.completedAt !== null) return false;
        await endPreparation(db, tx, preparation, { status: 'failed', failure }, await databaseNow(tx));
        return true;
      }
      case 'job': {
        const subject = await lockSubject(tx, id);
        if (subject === null || subject.job.status === 'finished') return false;
        // A job that has started after all is no longer unserved.
        if (errorCode === 'engine_unavailable' && subject.job.status !== 'queued') return false;
        await failSubject(db, tx, subject, failure, await databaseNow(tx));
        return true;
      }
    }
  });
}
