import { type Logger } from '@lipsync/runtime';
import { assetPrefix, type Storage } from '@lipsync/storage';

/**
 * Deletes the objects that attempts at an asset left in storage, except the accepted one (if any). A worker that is
 * killed between storing and completing leaves one behind. Best effort; call it only for a job that has just ended.
 */
export async function deleteStrays(
  storage: Pick<Storage, 'list' | 'delete'>,
  logger: Logger,
  assetId: string,
  accepted: string | undefined,
): Promise<void> {
  try {
    const strays: string[] = [];
    for await (const key of storage.list(assetPrefix(assetId))) if (key !== accepted) strays.push(key);
    if (strays.length > 0) await storage.delete(strays);
  } catch (error) {
    logger.warn('objects of unfinished attempts were not deleted', { asset_id: assetId, error });
  }
}
