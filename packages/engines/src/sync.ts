import { type Clock, endOf, frameAt } from '@lipsync/domain';
import { type FaceTrack, landmarksAt } from './face/face-track';
import { distance, landmark, landmarkCenter, LEFT_EYE, RIGHT_EYE } from './face/landmarks';
import { type Recording, SAMPLE_RATE } from './speech/log-mel';

/** Opening of the mouth in every frame of a track; null if no face was found. */
export function mouthOpenings(track: FaceTrack): (number | null)[] {
  return Array.from({ length: track.frames }, (_, frame) =>
    track.found[frame] === 1 ? mouthOpening(landmarksAt(track, frame)) : null,
  );
}

/**
 * Voice and mouth are compared in steps of so many seconds, whatever the rate of the pictures. It is also the finest lag
 * that is told.
 */
const SYNC_STEP = 0.04;

/** How many steps come closest to so many seconds. */
export function stepsIn(seconds: number): number {
  return Math.round(seconds / SYNC_STEP);
}

/** The frame that is on screen in the middle of every step of a clip. */
export function shownFrames(clock: Clock): number[] {
  return Array.from({ length: stepsIn(endOf(clock)) }, (_, step) => frameAt(clock, (step + 0.5) * SYNC_STEP));
}

/**
 * Fewest steps with a mouth to judge: three seconds. Speech is smooth, so few of its steps are independent, and one of
 * several lags is always best. In 25 unrelated steps every second mouth would seem to follow.
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
  /**
   * The best correlation of the opening with the loudness; 0 if the mouth does not move, null with too few mouths or
   * without speech to follow. It finds lags. It does not tell how well a mouth speaks: one that opens by loudness alone
   * has 0.6 to 0.95, trained networks 0.16 to 0.37, natural speech −0.1 to 0.5.
   */
  readonly pearson: number | null;
  /** Seconds by which the mouth lags behind the voice; null if it does not follow well enough to have a lag. */
  readonly lagSeconds: number | null;
  /** For how long the mouth was measured. */
  readonly faceSeconds: number;
}

/**
 * How closely the mouth follows the loudness of the voice, both step by step: the best correlation of all lags of up to
 * `maxLagSeconds` in either direction, and its lag. The more lags are searched, the higher the chance correlation of a
 * mouth that does not follow at all.
 */
export function followsVoice(
  envelope: readonly number[],
  openings: readonly (number | null)[],
  maxLagSeconds: number,
): FollowsVoice {
  const seen = openings.filter((opening) => opening !== null);
  const faceSeconds = seen.length * SYNC_STEP;
  if (seen.length < FEWEST_MOUTHS || deviation(envelope) <= STEADY_SOUND * mean(envelope))
    return { pearson: null, lagSeconds: null, faceSeconds };
  if (deviation(seen) <= STILL_MOUTH) return { pearson: 0, lagSeconds: null, faceSeconds };
  const { pearson, lag } = bestCorrelation(correlateAtLags(envelope, openings, stepsIn(maxLagSeconds)));
  return { pearson, lagSeconds: pearson < LEAST_FOR_A_LAG ? null : lag * SYNC_STEP, faceSeconds };
}

/** Opposite points of the upper and lower inner lip. */
const INNER_LIP_PAIRS = [
  [61, 67],
  [62, 66],
  [63, 65],
] as const;

/**
 * How far the mouth is open: the mean gap between the inner lips divided by the distance of the eye centers, which
 * neither speech nor a tilted head changes. 0 is closed, a shout is about 0.6. Takes one frame's 136 landmark values.
 */
export function mouthOpening(landmarks: Float32Array): number {
  const eyes = distance(landmarkCenter(landmarks, LEFT_EYE), landmarkCenter(landmarks, RIGHT_EYE));
  if (eyes === 0) return 0;
  let gaps = 0;
  for (const [upper, lower] of INNER_LIP_PAIRS) {
    gaps += distance(landmark(landmarks, upper), landmark(landmarks, lower));
  }
  return gaps / INNER_LIP_PAIRS.length / eyes;
}

/** Pearson's correlation of two series of equal length; 0 where either is constant. */
function pearson(a: readonly number[], b: readonly number[]): number {
  const meanA = mean(a);
  const meanB = mean(b);
  let covariance = 0;
  let varianceA = 0;
  let varianceB = 0;
  a.forEach((value, i) => {
    const deltaA = value - meanA;
    const deltaB = (b[i] ?? 0) - meanB;
    covariance += deltaA * deltaB;
    varianceA += deltaA * deltaA;
    varianceB += deltaB * deltaB;
  });
  return varianceA === 0 || varianceB === 0 ? 0 : covariance / Math.sqrt(varianceA * varianceB);
}

interface LaggedCorrelation {
  /** Steps by which `follower` lags behind `leader`; negative if it is ahead. */
  lag: number;
  pearson: number;
}

/**
 * Correlation of `follower[i + lag]` with `leader[i]` for every lag in ±maxLag. Null entries (steps without a measured
 * face) are ignored pair by pair.
 */
function correlateAtLags(
  leader: readonly number[],
  follower: readonly (number | null)[],
  maxLag: number,
): LaggedCorrelation[] {
  const lags = Array.from({ length: 2 * maxLag + 1 }, (_, k) => k - maxLag);
  return lags.map((lag) => {
    const pairs = leader.flatMap((value, i) => {
      const followed = follower[i + lag];
      return followed == null ? [] : [[value, followed] as const];
    });
    return {
      lag,
      pearson: pearson(
        pairs.map(([x]) => x),
        pairs.map(([, y]) => y),
      ),
    };
  });
}

function bestCorrelation(correlations: readonly LaggedCorrelation[]): LaggedCorrelation {
  return correlations.reduce((best, next) => (next.pearson > best.pearson ? next : best));
}

/** The arithmetic mean; 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** The standard deviation of all values; 0 for an empty list. */
function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** Steps that are processed at once. */
const STRETCH = 250;

/**
 * Loudness of 16 kHz speech in each of the first `steps`: RMS over a Hann-weighted window of two steps, centered on the
 * middle of the step. Outside the recording counts as silence.
 */
export function speechEnvelope(recording: Recording, steps: number): number[] {
  const half = Math.round(SAMPLE_RATE * SYNC_STEP);
  const weights = Float64Array.from(
    { length: 2 * half + 1 },
    (_, i) => 0.5 + 0.5 * Math.cos((Math.PI * (i - half)) / half),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const startOf = (step: number): number => Math.round((step + 0.5) * SYNC_STEP * SAMPLE_RATE) - half;
  let from = 0;
  let heard = new Float32Array(0);
  return Array.from({ length: steps }, (_, step) => {
    if (step % STRETCH === 0) {
      from = startOf(step);
      heard = recording.read(from, startOf(Math.min(step + STRETCH, steps) - 1) + weights.length);
    }
    const first = startOf(step) - from;
    let energy = 0;
    for (let i = 0; i < weights.length; i++) {
      const sample = heard[first + i] ?? 0;
      energy += (weights[i] ?? 0) * sample * sample;
    }
    return Math.sqrt(energy / total);
  });
}
