import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { type FaceAxes } from './face-axes';
import { type MouthPose } from './mouth-pose';

/** A line from one mouth corner to the other: v(u) = (height + slant·u)·(1 − u²) + margin·(1 − u⁴), [batch, 1, 1] each. */
export interface LipLine {
  readonly height: Value;
  /** Lowers one side, as in a turned head or a crooked smile. */
  readonly slant: Value;
  /** Adds fullness towards the corners. */
  readonly margin?: Value;
}

/** The inner edges of the lips, in units of v. */
export interface LipLines {
  /** The edges in the source. */
  readonly upper: Required<LipLine>;
  readonly lower: Required<LipLine>;
  /** Where the lips meet when they are closed. */
  readonly seam: LipLine;
  /** The opening of the target at the centre, [batch, 1, 1], and how far its upper edge is above the seam. */
  readonly gap: Value;
  readonly rise: Value;
  /** 1 where the source mouth was open, 0 where it was closed, [batch, 1, 1]. */
  readonly wasOpen: Value;
}

/** Widest gap in speech, in half mouths: 16 mm of 25. */
const WIDEST = 0.64;
/** The upper lip contributes a fifth of the gap, jaw and lower lip the rest. */
const UPPER_SHARE = 0.2;
/** Landmarks of closed lips are at most CLOSED apart, those of open lips at least OPEN. */
const CLOSED = 0.06;
const OPEN = 0.15;
/** An open mouth is assumed to be wider than measured, because a sliver of old teeth looks worse than a thinner lip. */
const WIDENING = 1.15;
const MARGIN = 0.06;

const UPPER_INNER = [61, 62, 63];
const LOWER_INNER = [67, 66, 65];

export function lipLines(g: GraphBuilder, axes: FaceAxes, pose: MouthPose): LipLines {
  const m = arithmetic(g);
  const measuredUpper = lineThrough(g, axes.landmarks, UPPER_INNER);
  const measuredLower = lineThrough(g, axes.landmarks, LOWER_INNER);
  const middle = m.mul(m.add(measuredUpper.height, measuredLower.height), 0.5);
  const slant = m.mul(m.add(measuredUpper.slant, measuredLower.slant), 0.5);
  const measuredGap = m.sub(measuredLower.height, measuredUpper.height);
  const isOpen = m.ramp(measuredGap, CLOSED, OPEN);
  const half = m.mul(measuredGap, isOpen, 0.5 * WIDENING);
  const upper = {
    height: m.sub(middle, half),
    slant: m.mix(slant, measuredUpper.slant, isOpen),
    margin: m.mul(isOpen, -MARGIN),
  };
  const lower = {
    height: m.add(middle, half),
    slant: m.mix(slant, measuredLower.slant, isOpen),
    margin: m.mul(isOpen, MARGIN),
  };
  const seam = { height: m.add(upper.height, m.mul(half, 2 * UPPER_SHARE)), slant };
  const gap = m.mul(pose.opening, WIDEST);
  return { upper, lower, seam, gap, rise: m.mul(gap, UPPER_SHARE), wasOpen: isOpen };
}

/** v of a line at each u; `profile` is 1 − u² there. */
export function lineAt(g: GraphBuilder, line: LipLine, u: Value, profile: Value): Value {
  const m = arithmetic(g);
  const straight = m.add(line.height, m.mul(line.slant, u));
  const full = line.margin ? m.add(straight, m.mul(line.margin, m.sub(2, profile))) : straight;
  return m.mul(full, profile);
}

/**
 * Least-squares fit through some landmarks. Height and slant are nearly independent, so they are fitted in sequence.
 */
function lineThrough(g: GraphBuilder, landmarks: Value, indices: readonly number[]): LipLine {
  const m = arithmetic(g);
  const points = g.op('Gather', [landmarks, g.ints(indices)], { axis: 1 });
  const [u, v] = g.multi('Split', [points, g.ints([1, 1])], 2, { axis: 2 });
  if (u === undefined || v === undefined) throw new RangeError('points have two coordinates');
  const fit = (values: Value, shape: Value): Value => {
    const along = g.ints([1]);
    const product = g.op('ReduceSum', [m.mul(values, shape), along]);
    return m.div(product, m.add(g.op('ReduceSum', [m.square(shape), along]), 1e-3));
  };
  const level = m.dome(u, 1);
  const height = fit(v, level);
  return { height, slant: fit(m.sub(v, m.mul(height, level)), m.mul(u, level)) };
}
