import { type FaceTrack } from '@lipsync/lipsync';
import { type FeatureLayout, isWorthKeeping } from '../protocol/feature-layout';
import { noFeatures } from './engines/engine';
import { type FeatureFile, openFeatureFile } from './pipeline/feature-file';

/** The features of a video in the file that a task names; none where it names no file or the engine keeps nothing. */
export function openFeatures(path: string | undefined, layout: FeatureLayout, track: FaceTrack): FeatureFile {
  if (path === undefined || !isWorthKeeping(layout)) {
    return { ...noFeatures, added: () => 0, close: () => undefined };
  }
  const { version: trackVersion, analyzerVersion } = track;
  return openFeatureFile(path, { ...layout, trackVersion, analyzerVersion });
}
