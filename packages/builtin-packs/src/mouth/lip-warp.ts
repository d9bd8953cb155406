import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { type FaceAxes, type FaceCoordinates } from './face-axes';
import { heightOf, lineAt, type LipMotion, type LipThickness, type MeasuredLips, NOSE_BASE } from './lips';

/**
 * The distance from each point to its source, in face coordinates, and the lip edges of the target: all [batch, 1,
 * points]. All change little from point to point; the movement itself jumps where the lips part.
 */
export interface LipWarp {
  readonly shiftU: Value;
  /** The shift of what moves with the upper lip, and with the lower. */
  readonly upperShift: Value;
  readonly lowerShift: Value;
  /** u after narrowing: ±1 at the target's mouth corners. */
  readonly mouthU: Value;
  readonly upperEdge: Value;
  readonly lowerEdge: Value;
  readonly seam: Value;
  /** How far the lips part, over how far they do in the middle. */
  readonly parting: Value;
  /** Where the lips end and skin or hair begins. */
  readonly upperOuter: Value;
  readonly lowerOuter: Value;
}

/** Something that shows fully up to a distance, and no more from another on. */
export interface Reach {
  readonly full: number;
  readonly end: number;
}

/** Where corners that move apart take the picture with them fully, and where that ends, in units of u and of v. */
const CHEEKS = { full: 0.9, least: 1.35, most: 2.2 };
const LIPS: Reach = { full: 0.5, end: 1.3 };
/** The outline of the jaw beside the mouth and chin, and the part of the way to it that may move: it stays itself. */
const JAW = [5, 11] as const;
const WITHIN_JAW = 0.95;

/** |u| of the nearer side of the jaw, [batch, 1, 1]. */
function jawReach(g: GraphBuilder, { landmarks }: FaceAxes): Value {
  const points = g.op('Gather', [landmarks, g.ints(JAW)], { axis: 1 });
  const [across] = g.split(points, [1, 1], 2);
  return g.op('ReduceMin', [g.op('Abs', [across]), g.ints([1])]);
}

/** Thickness of the lower lip, which moves as one piece. */
const LIP = 0.35;
/** The part of the mouth's width over which the lips part. Towards the corners they stay together. */
const PARTING = 0.93;
/** Where the base of the nose is at the lowest, and the chin at the highest, in units of v, whatever landmarks say. */
const NEAREST = { nose: -0.4, chin: 1.2 };
/** Even lips that are lifted leave some skin below the nose, which stretches. */
const LEAST_ROOM = 0.05;
/**
 * The movement below the lower lip: half its width at the lip's edge, how much wider it is per unit of v further down,
 * and how far down it is that alone.
 */
const BELL = { width: 1.15, widening: 0.35, from: 0.4 };
/** Half the width of the chin's movement, and how far below the chin it ends, in units of u and of v. */
const CHIN = { width: 2.2, below: 0.8 };

export function lipWarp(
  g: GraphBuilder,
  axes: FaceAxes,
  { u, v }: FaceCoordinates,
  motion: LipMotion,
  { source, target }: { readonly source: MeasuredLips; readonly target: LipThickness },
  border: Value,
): LipWarp {
  const m = arithmetic(g);
  const cheeks = m.clamp(m.mul(jawReach(g, axes), WITHIN_JAW), CHEEKS.least, CHEEKS.most);
  const beside = m.smooth(m.ramp(g.op('Abs', [u]), cheeks, CHEEKS.full));
  const level = m.smooth(m.ramp(g.op('Abs', [v]), LIPS.end, LIPS.full));
  const nearMouth = m.mul(beside, level, border);
  const shiftU = m.mul(m.mul(u, motion.narrowing), nearMouth);
  const mouthU = m.add(u, shiftU);
  const profile = m.dome(mouthU, 1);
  const parting = m.dome(mouthU, PARTING);
  const seam = lineAt(g, motion.seam, mouthU, profile);
  const upperEdge = m.sub(seam, m.mul(motion.rise, parting));
  const lowerEdge = m.add(seam, m.mul(m.sub(motion.gap, motion.rise), parting));

  const upperOuter = m.sub(upperEdge, m.mul(target.upperLip, profile));
  const lowerOuter = m.add(lowerEdge, m.mul(target.lowerLip, profile));
  // Skin and hair beyond the lips move with the lips' outer edges, so that they need no other picture's pixels.
  const { upperLip, lowerLip } = source.thickness;
  const aboveUpper = { ...source.upper, height: m.sub(source.upper.height, upperLip) };
  const belowLower = { ...source.lower, height: m.add(source.lower.height, lowerLip) };

  /** 0 at the inner edge of a lip, 1 from its outer edge on. */
  const within = (inner: Value, outer: Value): Value => {
    const across = m.sub(outer, inner);
    return m.clamp(m.div(m.mul(m.sub(v, inner), across), m.add(m.square(across), 1e-4)), 0, 1);
  };
  const nose = m.min(heightOf(g, axes.landmarks, NOSE_BASE), NEAREST.nose);
  const upperShift = m.mul(
    m.mix(
      m.sub(lineAt(g, motion.upper, mouthU, profile), upperEdge),
      m.sub(lineAt(g, aboveUpper, mouthU, profile), upperOuter),
      within(upperEdge, upperOuter),
    ),
    m.smooth(m.ramp(v, nose, m.max(upperOuter, m.add(nose, LEAST_ROOM)))),
  );
  // Below the lip the movement spreads sideways into a soft bell and becomes that of the chin.
  const atEdge = m.mix(
    m.sub(lineAt(g, motion.lower, mouthU, profile), lowerEdge),
    m.sub(lineAt(g, belowLower, mouthU, profile), lowerOuter),
    within(lowerEdge, lowerOuter),
  );
  const below = g.op('Relu', [m.sub(v, lowerOuter)]);
  const atCenter = m.sub(
    belowLower.height,
    m.add(motion.seam.height, m.sub(motion.gap, motion.rise), target.lowerLip),
  );
  const bell = m.mul(atCenter, m.square(m.dome(mouthU, m.add(m.mul(below, BELL.widening), BELL.width))));
  const chin = m.add(m.max(motion.chin, NEAREST.chin), motion.chinShift);
  const ofChin = m.mul(m.mul(motion.chinShift, -1), m.square(m.dome(u, CHIN.width)));
  const ofLip = m.mix(atEdge, bell, m.smooth(m.ramp(below, 0, BELL.from)));
  const lowerShift = m.mul(
    m.mix(ofChin, ofLip, m.smooth(m.ramp(v, chin, m.add(lowerEdge, LIP)))),
    m.smooth(m.ramp(v, m.add(chin, CHIN.below), chin)),
  );
  return {
    shiftU,
    upperShift: m.mul(upperShift, border),
    lowerShift: m.mul(lowerShift, border),
    mouthU,
    upperEdge,
    lowerEdge,
    seam,
    parting,
    upperOuter,
    lowerOuter,
  };
}
