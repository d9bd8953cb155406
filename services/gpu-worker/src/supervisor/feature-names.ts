import { type Engine } from '@lipsync/contract';

/** The analyser that made a face track, and the track's version. */
export interface TrackOrigin {
  /** See FACE_TRACK_VERSION. */
  readonly version: string;
  /** Name, version and content digest of the analyser's pack in one string. */
  readonly analyzerVersion: string;
}

/** The name under which a video's face track is stored: another analyser's track is a different feature. */
export function trackName({ version, analyzerVersion }: TrackOrigin): string {
  return `track:${version}:${analyzerVersion}`;
}

/**
 * The name under which an engine's features of a video are stored. They depend on the pack's networks, on the engine's
 * code, and on the track, which determines the position of the crops.
 */
export function latentsName(
  engine: Engine,
  pack: { readonly version: string; readonly features: { readonly version: string } },
  track: TrackOrigin,
): string {
  return `latents:${engine}:${pack.features.version}:${pack.version}:${trackName(track)}`;
}
