import { type Db, purge } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';
import { assetPrefix, featureKey, outputKey, type Storage } from '@lipsync/storage';

/** One round of deleting what has expired. Logs what it deleted, and nothing when there was nothing. */
export async function purgeOnce(
  db: Db,
  storage: Pick<Storage, 'delete' | 'list'>,
  logger: Logger,
): Promise<void> {
  const { purged, deletedRows, errors } = await purge(db, {
    storage,
    keys: { outputKey, assetPrefix, featureKey },
  });
  if (purged + deletedRows > 0) {
    logger.wide('purge', { purged, deleted_rows: deletedRows, errors: errors.length });
  }
  if (errors.length > 0) throw errors[0];
}
