import { type Engine } from '@lipsync/contract';

/** What made a face track, and in what form. */
export interface TrackOrigin {
  /** See FACE_TRACK_VERSION. */
  readonly version: string;
  /** Name, version and content of the analyser's pack in one word. */
  readonly analyzerVersion: string;
}

/** The name under which the face track of a video is kept: another analyser's track is another feature. */
export function trackName({ version, analyzerVersion }: TrackOrigin): string {
  return `track:${version}:${analyzerVersion}`;
}

/**
 * The name under which an engine's features of a video are kept. They depend on the pack's networks, on what the
 * engine's code makes of them, and on the track, which places the crops.
 */
export function latentsName(
  engine: Engine,
  pack: { readonly version: string; readonly features: { readonly version: string } },
  track: TrackOrigin,
): string {
  return `latents:${engine}:${pack.features.version}:${pack.version}:${trackName(track)}`;
}
