import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { type FaceAxes } from './face-axes';
import { type MouthPose } from './mouth-pose';

/** A line from one mouth corner to the other: v(u) = (height + slant·u)·(1 − u²) + margin·(1 − u⁴), [batch, 1, 1] each. */
interface LipLine {
  readonly height: Value;
  /** Lowers one side, as in a turned head or a crooked smile. */
  readonly slant: Value;
  /** Adds fullness towards the corners. */
  readonly margin?: Value;
}

/** v of a line at each u; `profile` is 1 − u² there. */
export function lineAt(g: GraphBuilder, line: LipLine, u: Value, profile: Value): Value {
  const m = arithmetic(g);
  const straight = m.add(line.height, m.mul(line.slant, u));
  const full = line.margin ? m.add(straight, m.mul(line.margin, m.sub(2, profile))) : straight;
  return m.mul(full, profile);
}

/** The lips in pictures, as their landmarks say, in units of v; [batch, 1, 1] each. */
export interface MeasuredLips {
  /** The inner edges. */
  readonly upper: LipLine;
  readonly lower: LipLine;
  /** Their distance in the middle. */
  readonly gap: Value;
  /** Thickness of the lips in the middle. */
  readonly thickness: LipThickness;
  /** v of the chin. */
  readonly chin: Value;
}

/** Thickness of lips in the middle, in units of v, [1 or batch, 1, 1] each. */
export interface LipThickness {
  readonly upperLip: Value;
  readonly lowerLip: Value;
}

const UPPER_INNER = [61, 62, 63];
const LOWER_INNER = [67, 66, 65];
const UPPER_OUTER = [50, 51, 52];
const LOWER_OUTER = [58, 57, 56];
export const THINNEST_LIP = 0.12;
const CHIN = 8;
export const NOSE_BASE = 33;

export function measuredLips(g: GraphBuilder, { landmarks }: FaceAxes): MeasuredLips {
  const upper = lineThrough(g, landmarks, UPPER_INNER);
  const lower = lineThrough(g, landmarks, LOWER_INNER);
  const m = arithmetic(g);
  const gap = g.op('Relu', [m.sub(lower.height, upper.height)]);
  const level = (indices: readonly number[]): Value => {
    const points = g.op('Gather', [landmarks, g.ints(indices)], { axis: 1 });
    const [, v] = g.split(points, [1, 1], 2);
    return g.op('ReduceMean', [v, g.ints([1])]);
  };
  const between = (outer: readonly number[], inner: readonly number[]): Value =>
    m.max(g.op('Abs', [m.sub(level(outer), level(inner))]), THINNEST_LIP);
  const thickness = {
    upperLip: between(UPPER_OUTER, UPPER_INNER),
    lowerLip: between(LOWER_OUTER, LOWER_INNER),
  };
  return { upper, lower, gap, thickness, chin: heightOf(g, landmarks, CHIN) };
}

/** v of a landmark, [batch, 1, 1]. */
export function heightOf(g: GraphBuilder, landmarks: Value, index: number): Value {
  return g.op('Slice', [landmarks, g.ints([index, 1]), g.ints([index + 1, 2]), g.ints([1, 2])]);
}

/**
 * Least-squares fit through some landmarks. Height and slant are nearly independent, so they are fitted in sequence.
 */
function lineThrough(g: GraphBuilder, landmarks: Value, indices: readonly number[]): LipLine {
  const m = arithmetic(g);
  const points = g.op('Gather', [landmarks, g.ints(indices)], { axis: 1 });
  const [u, v] = g.split(points, [1, 1], 2);
  const fit = (values: Value, shape: Value): Value => {
    const along = g.ints([1]);
    const product = g.op('ReduceSum', [m.mul(values, shape), along]);
    return m.div(product, m.add(g.op('ReduceSum', [m.square(shape), along]), 1e-3));
  };
  const level = m.dome(u, 1);
  const height = fit(v, level);
  return { height, slant: fit(m.sub(v, m.mul(height, level)), m.mul(u, level)) };
}

/** What is known about a face besides the frame at hand, [1, 1, 1] each. */
export interface FaceHabits {
  /** 1 if it is known, 0 if the other values are defaults. */
  readonly known: Value;
  /** The gap that the landmarks report for closed lips. */
  readonly closedGap: Value;
  /** The gap of a wide vowel. */
  readonly widestGap: Value;
  /** Width of the mouth over the distance of the eyes. */
  readonly mouthWidth: Value;
  /** v of the chin, and of the line where the lips meet, of the closed mouth. */
  readonly chin: Value;
  readonly seam: Value;
  /** v of the base of the nose, of the closed mouth. */
  readonly nose: Value;
}

/** The lips of the source and those that the voice asks for, in units of v; [batch, 1, 1] each. */
export interface LipMotion {
  /** The inner edges in the source. */
  readonly upper: Required<LipLine>;
  readonly lower: Required<LipLine>;
  /** Where the lips of the target meet when they are closed. */
  readonly seam: LipLine;
  /** The opening of the target at the center, and how far its upper edge is above the seam. */
  readonly gap: Value;
  readonly rise: Value;
  /** v of the chin in the source, and how far it moves down from there. */
  readonly chin: Value;
  readonly chinShift: Value;
  /** Relative narrowing of the source's mouth; negative is wider. */
  readonly narrowing: Value;
  /** Thickness of the lips relative to the face's own: drawn together, they are fuller. */
  readonly fullness: Value;
}

/** The upper lip contributes a fifth of the gap, jaw and lower lip the rest. */
const UPPER_SHARE = 0.2;
/** Lips that are this much further apart than closed ones are open for sure. */
const SURELY_OPEN = 0.09;
/** An open mouth is assumed to be wider than measured, because a sliver of old teeth looks worse than a thinner lip. */
const WIDENING = 1.15;
const MARGIN = 0.06;
/** The jaw of a wide vowel, whose gap is the face's widest. */
const WIDE_JAW = 0.85;
/** Lips part a little more than in proportion to the jaw: the teeth of "ee" show. */
const PARTING_POWER = 0.7;
/** Corners that are drawn apart stretch the lips, which then part by so much less. */
const STRETCHED = 0.3;
/** Lips that speak and do not touch are parted by at least this share of the widest gap. */
const PARTED = 0.3;
/** Lips touch from so much of a contact on, and at smaller gaps, which are heard when nobody speaks. */
const CONTACT = 0.85;
const TOUCHING = 0.015;
/** How far the lower lip at the upper teeth is from the upper lip. All of that is above where lips meet. */
const DENTAL_GAP = 0.18;
/** How much drawn-together and drawn-apart corners change the mouth's width. */
const NARROWER = 0.26;
const WIDER = 0.17;
/** How much of a smile in the source remains. */
const SMILE = 0.6;
/**
 * How much nearer to the nose the corners of the mouth may be than those of the closed mouth, in units of v. A smile
 * lifts them, not the middle of the lips; if both went along, the closed mouth would frown.
 */
const LIFTED = { least: -0.1, most: 0.35 };
/** The part of the gap that the chin moves. */
const CHIN_SHARE = 0.6;
/** More would fold the cheeks. */
const MOST_NARROWING = 0.27;
const MOST_WIDENING = 0.25;
/** How much the lips swell when drawn together, and thin when drawn apart. */
const FULLER = 0.12;
const THINNER = 0.05;
const MOST_CHIN_SHIFT = 0.3;

export function lipMotion(
  g: GraphBuilder,
  { mouthWidth, landmarks }: FaceAxes,
  source: MeasuredLips,
  habits: FaceHabits,
  pose: MouthPose,
): LipMotion {
  const m = arithmetic(g);
  const { known } = habits;
  const middle = m.mul(m.add(source.upper.height, source.lower.height), 0.5);
  const slant = m.mul(m.add(source.upper.slant, source.lower.slant), 0.5);
  const isOpen = m.ramp(source.gap, habits.closedGap, m.add(habits.closedGap, SURELY_OPEN));
  const half = m.mul(source.gap, isOpen, 0.5 * WIDENING);
  const edge = (side: 1 | -1, { slant: own }: LipLine): Required<LipLine> => ({
    height: m.add(middle, m.mul(half, side)),
    slant: m.mix(slant, own, isOpen),
    margin: m.mul(isOpen, side * MARGIN),
  });
  const [upper, lower] = [edge(-1, source.upper), edge(1, source.lower)];

  const lowered = g.op('Pow', [m.mul(pose.jaw, 1 / WIDE_JAW), PARTING_POWER]);
  const opened = m.mul(lowered, m.sub(1, m.mul(pose.spreading, STRETCHED)));
  const spoken = m.mul(m.max(opened, m.mul(pose.speaks, PARTED)), habits.widestGap);
  const parted = m.mix(spoken, DENTAL_GAP, pose.dental);
  const apart = m.mul(parted, m.ramp(pose.closure, CONTACT, 0));
  const gap = m.mul(
    g.op('Relu', [m.sub(apart, TOUCHING)]),
    m.div(habits.widestGap, m.sub(habits.widestGap, TOUCHING)),
  );
  // The upper lip blends as the gap does. A mean of the shares would lift it above both of what it blends.
  const lifts = m.mix(m.mul(spoken, UPPER_SHARE), DENTAL_GAP, pose.dental);
  const factor = m.sub(m.add(1, m.mul(pose.spreading, WIDER)), m.mul(pose.rounding, NARROWER));
  const ownWidth = m.mix(mouthWidth, habits.mouthWidth, known);
  const smile = m.mul(g.op('Relu', [m.sub(m.div(mouthWidth, m.max(ownWidth, 0.1)), 1)]), SMILE);
  const wanted = m.mul(m.max(ownWidth, 0.1), m.mul(m.add(smile, 1), factor));
  const chinWanted = m.add(
    m.mix(source.chin, habits.chin, known),
    m.mul(m.sub(gap, m.mul(source.gap, m.sub(1, known))), CHIN_SHARE),
  );
  const lifted = m.clamp(m.sub(heightOf(g, landmarks, NOSE_BASE), habits.nose), LIFTED.least, LIFTED.most);
  return {
    upper,
    lower,
    seam: {
      height: m.mix(
        m.add(upper.height, m.mul(half, 2 * UPPER_SHARE)),
        m.add(habits.seam, lifted),
        m.mul(isOpen, known),
      ),
      slant,
    },
    gap,
    rise: m.mul(gap, m.div(lifts, m.max(parted, TOUCHING))),
    chin: source.chin,
    chinShift: m.clamp(m.sub(chinWanted, source.chin), -MOST_CHIN_SHIFT, MOST_CHIN_SHIFT),
    narrowing: m.clamp(m.sub(m.div(mouthWidth, wanted), 1), -MOST_WIDENING, MOST_NARROWING),
    fullness: m.add(1, m.sub(m.mul(pose.rounding, FULLER), m.mul(pose.spreading, THINNER))),
  };
}
