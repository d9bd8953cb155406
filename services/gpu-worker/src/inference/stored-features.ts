import { type FaceTrack } from '@lipsync/lipsync';
import { type FeatureLayout, isWorthKeeping } from '../protocol/feature-layout';
import { noFeatures } from './engines/engine';
import { type FeatureFile, openFeatureFile } from './pipeline/feature-file';

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
