import { type Db, purge } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';
import { assetPrefix, featureKey, outputKey, type Storage } from '@lipsync/storage';
import { type Metrics } from '@lipsync/telemetry';

/**
 * One round of deleting what has expired, cut short when `stopping` is aborted. Counts and logs what it deleted;
 * returns true when there is more to delete at once.
 */
export async function purgeOnce(
  db: Db,
  storage: Pick<Storage, 'delete' | 'list'>,
  { logger, metrics, stopping }: { logger: Logger; metrics: Metrics; stopping: AbortSignal },
): Promise<boolean> {
  const deleted = metrics.counter('purged_total');
  const { purged, deletedRows, errors, more } = await purge(db, {
    storage,
    keys: { outputKey, assetPrefix, featureKey },
    stopping,
    onPurged: (kind) => deleted.inc({ kind }),
  });
  deleted.inc({ kind: 'row' }, deletedRows);
  if (purged + deletedRows > 0) {
    logger.wide('purge', { purged, deleted_rows: deletedRows, errors: errors.length });
  }
  if (errors.length > 0) throw errors[0];
  return more;
}
