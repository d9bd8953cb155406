import { type JobTools } from './job-context';
import { StorageFailed } from './job-errors';
import { fetchKept } from './kept-features';
import { dropFeature, type FeatureKey } from '@lipsync/db';
import { decodeFaceTrack, type FaceTrack, FaceTrackError } from '@lipsync/engines';
import { isStorageUnavailable } from '@lipsync/storage';
import { readFile, rm } from 'node:fs/promises';

/** Places a stored face track at `path` and reads it; null when it was unusable and therefore dropped. */
export async function fetchTrack(
  tools: JobTools,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  try {
    if (!(await fetchKept(tools, key, sha256, path, signal))) return null;
    return decodeFaceTrack(await readFile(path));
  } catch (error) {
    if (!(error instanceof FaceTrackError || (await isWithheld(tools, error, signal)))) throw error;
    tools.logger.warn('a kept face track cannot be read', { name: key.name, sha256, error });
    await dropFeature(tools.db, key, sha256);
    await rm(path, { force: true });
    return null;
  }
}

/**
 * Whether the store answers and yet did not give this object, despite retries: its disk may have lost part of it. A job
 * that waited for the object, as for a store that is away, could wait until its record's deadline.
 */
async function isWithheld(
  { storage }: Pick<JobTools, 'storage'>,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(error instanceof StorageFailed && isStorageUnavailable(error.cause))) return false;
  try {
    await storage.ping({ signal });
    return true;
  } catch {
    return false;
  }
}
