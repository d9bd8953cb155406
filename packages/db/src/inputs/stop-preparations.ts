import { type Failure, RECORD_STATES } from '@lipsync/domain';
import { type Act, recordAct } from '../audit/audit-log';
import { endPreparation } from '../jobs/end-records';
import { lockPreparation } from '../jobs/job';
import { databaseNow, type Db, transaction } from '../postgres/db';
import { lockDownloads, stopDownloads } from './downloads';

/** The contract has no event for a preparation that is cancelled, and this code tells its caller to create it again. */
const STOPPED: Failure = {
  errorCode: 'worker_lost',
  errorDetail: 'The operator of the service stopped it; create it again.',
};

/**
 * Fails every open preparation of a customer, one after the other, each on record as the act of an operator; may be
 * interrupted and repeated. Its worker learns of that from its next heartbeat. Returns how many it stopped.
 */
export async function stopOpenPreparations(db: Db, customerId: string, act: Act): Promise<number> {
  const where = { customerId, status: { in: [...RECORD_STATES.open] } };
  const open = await db.prisma.preparation.findMany({ where, orderBy: { id: 'asc' } });
  let stopped = 0;
  for (const { id, createdAt, videoAssetId } of open) {
    stopped += await transaction(db, async (tx) => {
      // In the order of locks, an ingest comes before the records that wait for it.
      const downloads = await lockDownloads(tx, { customerId, createdAt }, [videoAssetId]);
      const preparation = await lockPreparation(tx, id);
      // It has ended in the meantime.
      if (preparation === null || preparation.completedAt !== null) return 0;
      const now = await databaseNow(tx);
      await endPreparation(db, tx, preparation, { status: 'failed', failure: STOPPED }, now);
      await recordAct(db, tx, act, { customerId, subjectId: id });
      await stopDownloads(tx, downloads, 'preparation that it was for was stopped', now);
      return 1;
    });
  }
  return stopped;
}
