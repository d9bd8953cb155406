import { type FeatureFile, openFeatureFile } from './pipeline/feature-file';
import { type FaceTrack, type FeatureLayout, isWorthKeeping, noFeatures } from '@lipsync/engines';

/**
 * Opens the file of a video's features that a task names; keeps nothing when there is no path or nothing worth keeping.
 */
export function openFeatures(path: string | undefined, layout: FeatureLayout, track: FaceTrack): FeatureFile {
  if (path === undefined || !isWorthKeeping(layout)) {
    return { ...noFeatures, added: () => 0, close: () => undefined };
  }
  const { version: trackVersion, analyzerVersion } = track;
  return openFeatureFile(path, { ...layout, trackVersion, analyzerVersion });
}
