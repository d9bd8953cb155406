import { databaseNow } from '../postgres/database-clock';
import { type Db, transaction, type Tx } from '../postgres/db';
import { type JobSubject, lockSubject } from './job';
import { isHeld, type Lease } from './lease';

/** Runs `change` under the locks of the job's subject if the claim still holds, otherwise returns `otherwise`. */
export function whileHeld<T>(
  db: Db,
  lease: Lease,
  otherwise: T,
  change: (tx: Tx, subject: JobSubject, now: Date) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    const subject = await lockSubject(tx, lease.jobId);
    if (subject === null || !isHeld(subject.job, lease)) return otherwise;
    return change(tx, subject, await databaseNow(tx));
  });
}
