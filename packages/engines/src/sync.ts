import { type FaceTrack } from './face/face-track';
import { distance, landmark, LANDMARK_VALUES, landmarkCenter, LEFT_EYE, RIGHT_EYE } from './face/landmarks';
import { type Recording } from './speech/log-mel';

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
  /**
   * The best correlation of the opening with the loudness; 0 if the mouth does not move, null with too few mouths or
   * without speech to follow. It finds lags. It does not tell how well a mouth speaks: one that opens by loudness alone
   * has 0.6 to 0.95, trained networks 0.16 to 0.37, natural speech −0.1 to 0.5.
   */
  readonly pearson: number | null;
  /** Frames by which the mouth lags behind the voice; null if it does not follow well enough to have a lag. */
  readonly lagFrames: number | null;
  /** Frames with a measured mouth. */
  readonly faceFrames: number;
}

/**
 * How closely the mouth follows the loudness of the voice: the best correlation of all lags in ±maxLagFrames, and its
 * lag. The more lags are searched, the higher the chance correlation of a mouth that does not follow at all.
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
  /** Frames by which `follower` lags behind `leader`; negative if it is ahead. */
  lagFrames: number;
  pearson: number;
}

/**
 * Correlation of `follower[i + lag]` with `leader[i]` for every lag in ±maxLag. Null entries (frames without a measured
 * face) are ignored pair by pair.
 */
function correlateAtLags(
  leader: readonly number[],
  follower: readonly (number | null)[],
  maxLag: number,
): LaggedCorrelation[] {
  const lags = Array.from({ length: 2 * maxLag + 1 }, (_, k) => k - maxLag);
  return lags.map((lagFrames) => {
    const pairs = leader.flatMap((value, i) => {
      const followed = follower[i + lagFrames];
      return followed == null ? [] : [[value, followed] as const];
    });
    return {
      lagFrames,
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

/** Frames that are processed at once. */
const STRETCH = 250;

/**
 * Loudness of speech per video frame: RMS over a Hann-weighted window of two frames, centered on the middle of the
 * frame's display time. Outside the recording counts as silence.
 */
export function speechEnvelope(
  recording: Recording,
  { sampleRate, fps, frames }: { sampleRate: number; fps: number; frames: number },
): number[] {
  const half = Math.round(sampleRate / fps);
  const weights = Float64Array.from(
    { length: 2 * half + 1 },
    (_, i) => 0.5 + 0.5 * Math.cos((Math.PI * (i - half)) / half),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const startOf = (frame: number): number => Math.round(((frame + 0.5) * sampleRate) / fps) - half;
  let from = 0;
  let heard = new Float32Array(0);
  return Array.from({ length: frames }, (_, frame) => {
    if (frame % STRETCH === 0) {
      from = startOf(frame);
      heard = recording.read(from, startOf(Math.min(frame + STRETCH, frames) - 1) + weights.length);
    }
    const first = startOf(frame) - from;
    let energy = 0;
    for (let i = 0; i < weights.length; i++) {
      const sample = heard[first + i] ?? 0;
      energy += (weights[i] ?? 0) * sample * sample;
    }
    return Math.sqrt(energy / total);
  });
}
