import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { type FaceAxes, type FaceCoordinates } from './face-axes';
import { lineAt, type LipLines } from './lip-lines';
import { type MouthPose } from './mouth-pose';

/**
 * The distance from each point to its source, in face coordinates, and the lip edges of the target: all [batch, 1,
 * points].
 */
export interface LipWarp {
  readonly shiftU: Value;
  readonly shiftV: Value;
  /** u after narrowing: ±1 at the target's mouth corners. */
  readonly mouthU: Value;
  readonly upperEdge: Value;
  readonly lowerEdge: Value;
  readonly seam: Value;
}

/** Thickness of the lower lip, which moves as one piece. */
const LIP = 0.35;
/** The part of the mouth's width over which the lips part. Towards the corners they stay together. */
const PARTING = 0.93;
const NOSE_BASE = 33;
const CHIN = 8;

export function lipWarp(
  g: GraphBuilder,
  axes: FaceAxes,
  { u, v }: FaceCoordinates,
  lines: LipLines,
  pose: MouthPose,
): LipWarp {
  const m = arithmetic(g);
  const nearMouth = m.mul(m.square(m.dome(u, 2)), m.square(m.dome(v, 1.1)));
  const shiftU = m.mul(m.mul(u, pose.narrowing), nearMouth);
  const mouthU = m.add(u, shiftU);
  const profile = m.dome(mouthU, 1);
  const parting = m.dome(mouthU, PARTING);
  const seam = lineAt(g, lines.seam, mouthU, profile);
  const upperEdge = m.sub(seam, m.mul(lines.rise, parting));
  const lowerEdge = m.add(seam, m.mul(m.sub(lines.gap, lines.rise), parting));

  const nose = m.min(heightOf(g, axes.landmarks, NOSE_BASE), -0.4);
  const chin = m.max(heightOf(g, axes.landmarks, CHIN), 1.2);
  const upperShift = m.mul(
    m.sub(lineAt(g, lines.upper, mouthU, profile), upperEdge),
    m.smooth(m.ramp(v, nose, upperEdge)),
  );
  // Below the lip the movement spreads sideways into a soft bell and fades out at the chin.
  const atEdge = m.sub(lineAt(g, lines.lower, mouthU, profile), lowerEdge);
  const below = g.op('Relu', [m.sub(v, lowerEdge)]);
  const atCentre = m.sub(
    m.add(lines.lower.height, lines.lower.margin),
    m.add(lines.seam.height, m.sub(lines.gap, lines.rise)),
  );
  const bell = m.mul(atCentre, m.square(m.dome(mouthU, m.add(m.mul(below, 0.35), 1.15))));
  const lowerShift = m.mul(
    m.mix(atEdge, bell, m.smooth(m.ramp(below, 0, 0.4))),
    m.smooth(m.ramp(v, chin, m.add(lowerEdge, LIP))),
  );
  const isLower = g.op('Greater', [v, m.mul(m.add(upperEdge, lowerEdge), 0.5)]);
  const shiftV = g.op('Where', [isLower, lowerShift, upperShift]);
  return { shiftU, shiftV, mouthU, upperEdge, lowerEdge, seam };
}

function heightOf(g: GraphBuilder, landmarks: Value, index: number): Value {
  return g.op('Slice', [landmarks, g.ints([index, 1]), g.ints([index + 1, 2]), g.ints([1, 2])]);
}
