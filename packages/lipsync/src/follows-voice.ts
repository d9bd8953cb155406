import { type FaceTrack } from './face-track';
import { LANDMARK_VALUES } from './landmarks68';
import { mouthOpening } from './mouth-opening';
import { bestCorrelation, correlateAtLags } from './lagged-correlation';
import { deviation, mean } from './spread';

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

/** A sound whose loudness stays within this part of its mean is no speech: silence, room tone, a hum. */
const STEADY_SOUND = 0.15;

/**
 * A mouth whose opening stays within this is still: the landmarks' noise alone is 0.002 to 0.003 on a real face, speech
 * moves it by ten times as much.
 */
const STILL_MOUTH = 0.004;

/** Below this two unrelated series have a best lag too, somewhere in the range that is searched. */
const LEAST_FOR_A_LAG = 0.4;

export interface FollowsVoice {
  /** The best correlation; 0 when the mouth does not move, null when there is no speech that it could follow. */
  readonly pearson: number | null;
  /** Frames by which the mouth comes after the voice; null when it does not follow well enough to have a lag. */
  readonly lagFrames: number | null;
  /** Frames with a measured mouth. */
  readonly faceFrames: number;
}

/** How well the mouth follows the voice: the best correlation over ±12 frames, and its lag. */
export function followsVoice(
  envelope: readonly number[],
  openings: readonly (number | null)[],
): FollowsVoice {
  const seen = openings.filter((opening) => opening !== null);
  const faceFrames = seen.length;
  if (deviation(envelope) <= STEADY_SOUND * mean(envelope))
    return { pearson: null, lagFrames: null, faceFrames };
  if (deviation(seen) <= STILL_MOUTH) return { pearson: 0, lagFrames: null, faceFrames };
  const { pearson, lagFrames } = bestCorrelation(correlateAtLags(envelope, openings, MAX_LAG_FRAMES));
  return { pearson, lagFrames: pearson < LEAST_FOR_A_LAG ? null : lagFrames, faceFrames };
}
