import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
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

/**
 * Three seconds of mouths. Speech is smooth, so few of its frames are news, and of several lags one is always best: of
 * 25 frames that have nothing to do with one another every second would pass for a mouth that follows.
 */
export const FEWEST_MOUTHS = 75;

/** A sound whose loudness stays within this part of its mean is no speech: silence, room tone, a hum. */
const STEADY_SOUND = 0.15;

/**
 * A mouth whose opening stays within this is still: the landmarks' noise alone is 0.002 to 0.003 on a real face, speech
 * moves it by ten times as much.
 */
const STILL_MOUTH = 0.004;

/** Below this two unrelated series have a best lag too, somewhere in the range that is searched; see the tests. */
const LEAST_FOR_A_LAG = 0.4;

export interface FollowsVoice {
  /** The best correlation; 0 when the mouth does not move, null with too few mouths, or no speech that they could follow. */
  readonly pearson: number | null;
  /** Frames by which the mouth comes after the voice; null when it does not follow well enough to have a lag. */
  readonly lagFrames: number | null;
  /** Frames with a measured mouth. */
  readonly faceFrames: number;
}

/**
 * How well the mouth follows the voice: the best correlation of all lags in ±maxLagFrames, and its lag. The more lags
 * are searched, the more a mouth that does not follow at all gets by chance.
 */
export function followsVoice(
  envelope: readonly number[],
  openings: readonly (number | null)[],
  maxLagFrames: number,
): FollowsVoice {
  const seen = openings.filter((opening) => opening !== null);
  const faceFrames = seen.length;
  if (faceFrames < FEWEST_MOUTHS || deviation(envelope) <= STEADY_SOUND * mean(envelope))
    return { pearson: null, lagFrames: null, faceFrames };
  if (deviation(seen) <= STILL_MOUTH) return { pearson: 0, lagFrames: null, faceFrames };
  const { pearson, lagFrames } = bestCorrelation(correlateAtLags(envelope, openings, maxLagFrames));
  return { pearson, lagFrames: pearson < LEAST_FOR_A_LAG ? null : lagFrames, faceFrames };
}
