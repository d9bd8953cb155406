import { readFile, rm } from 'node:fs/promises';
import { dropFeature, type FeatureKey } from '@lipsync/db';
import { decodeFaceTrack, type FaceTrack, FaceTrackError } from '@lipsync/lipsync';
import { type JobTools } from './job-context';
import { fetchKept } from './kept-features';

/** Places a stored face track at `path` and reads it; null when it was unusable and therefore dropped. */
export async function fetchTrack(
  tools: JobTools,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<FaceTrack | null> {
  if (!(await fetchKept(tools, key, sha256, path, signal))) return null;
  try {
    return decodeFaceTrack(await readFile(path));
  } catch (error) {
    if (!(error instanceof FaceTrackError)) throw error;
    tools.logger.warn('a kept face track cannot be read', { name: key.name, sha256, error });
    await dropFeature(tools.db, key, sha256);
    await rm(path);
    return null;
  }
}
