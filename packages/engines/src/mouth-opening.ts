import { distance, landmark, landmarkCentre, LEFT_EYE, RIGHT_EYE } from './face/landmarks68';

/** Opposite points of the upper and lower inner lip. */
const INNER_LIP_PAIRS = [
  [61, 67],
  [62, 66],
  [63, 65],
] as const;

/**
 * How far the mouth is open: the mean gap between the inner lips divided by the distance of the eye centres, which
 * neither speech nor a tilted head changes. 0 is closed, a shout is about 0.6. Takes one frame's 136 landmark values.
 */
export function mouthOpening(landmarks: Float32Array): number {
  const eyes = distance(landmarkCentre(landmarks, LEFT_EYE), landmarkCentre(landmarks, RIGHT_EYE));
  if (eyes === 0) return 0;
  let gaps = 0;
  for (const [upper, lower] of INNER_LIP_PAIRS) {
    gaps += distance(landmark(landmarks, upper), landmark(landmarks, lower));
  }
  return gaps / INNER_LIP_PAIRS.length / eyes;
}
