import { type FaceTrack } from './face/face-track';
import { LANDMARK_VALUES } from './face/landmarks68';
import { bestCorrelation, correlateAtLags } from './lagged-correlation';
import { mouthOpening } from './mouth-opening';
import { deviation, mean } from './spread';

/** Opening of the mouth in every frame of a track; null if no face was found. */
export function mouthOpenings(track: FaceTrack): (number | null)[] {
  return Array.from({ length: track.frames }, (_, frame) =>
    track.found[frame] === 1
      ? mouthOpening(track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES))
      : null,
  );
}

/**
 * Fewest frames with a mouth to judge: three seconds. Speech is smooth, so few of its frames are independent, and one
 * of several lags is always best. In 25 unrelated frames every second mouth would seem to follow.
 */
export const FEWEST_MOUTHS = 75;

/**
 * A sound whose loudness deviates from its mean by no more than this fraction is not speech, but silence, room tone or
 * a hum.
 */
const STEADY_SOUND = 0.15;

/**
 * A mouth whose opening deviates by no more than this is still. The landmarks' noise alone is 0.002 to 0.003 on a real
 * face; speech moves it by ten times as much.
 */
const STILL_MOUTH = 0.004;

/** Below this even unrelated series have a best lag somewhere in the range that is searched; see the tests. */
const LEAST_FOR_A_LAG = 0.4;

export interface FollowsVoice {
  /** The best correlation; 0 if the mouth does not move, null with too few mouths or without speech to follow. */
  readonly pearson: number | null;
  /** Frames by which the mouth lags behind the voice; null if it does not follow well enough to have a lag. */
  readonly lagFrames: number | null;
  /** Frames with a measured mouth. */
  readonly faceFrames: number;
}

/**
 * How well the mouth follows the voice: the best correlation of all lags in ±maxLagFrames, and its lag. The more lags
 * are searched, the higher the chance correlation of a mouth that does not follow at all.
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
