import { type FaceTrack } from './face-track';
import { LANDMARK_VALUES } from './landmarks68';
import { mouthOpening } from './mouth-opening';
import { bestCorrelation, correlateAtLags, type LaggedCorrelation } from './lagged-correlation';

/** Opening of the mouth per frame of a track; null where no face was found. */
export function mouthOpenings(track: FaceTrack): (number | null)[] {
  return Array.from({ length: track.frames }, (_, frame) =>
    track.found[frame] === 1
      ? mouthOpening(track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES))
      : null,
  );
}

/** Lags are searched this far, so that "the best lag is small" is a finding and not an assumption. */
const MAX_LAG_FRAMES = 12;

export interface FollowsVoice extends LaggedCorrelation {
  faceFrames: number;
}

/** How well the mouth follows the voice: the best correlation over ±12 frames, and its lag. */
export function followsVoice(
  envelope: readonly number[],
  openings: readonly (number | null)[],
): FollowsVoice {
  return {
    ...bestCorrelation(correlateAtLags(envelope, openings, MAX_LAG_FRAMES)),
    faceFrames: openings.filter((opening) => opening !== null).length,
  };
}
