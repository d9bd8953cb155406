import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { positionalEncoding, WINDOW_STEPS } from '../speech/windows';
import { arithmetic } from './arithmetic';
import { BLOCK } from './autoencoder';
import { CUE_STATE, CUES, STATES, WIDTH } from './speech';

/** What the mouth should look like in one frame, [batch, 1, 1] each. */
export interface MouthPose {
  /** 0 is closed, 1 as wide open as speech gets. */
  readonly opening: Value;
  /** Relative narrowing of the mouth; negative is wider. */
  readonly narrowing: Value;
}

/** The frame lasts from step 4 to step 6 of its window. Lips move slightly ahead of the sound. */
const NOW = { center: 4.7, spread: 1.3 };
/** The jaw closes more slowly than it opens, hence a weaker echo of what was just said. */
const ECHO = { center: 2.6, spread: 1.2, strength: 0.7 };

/**
 * The pose from `audio` [batch, 50, 384]: windows of hidden states, to which the caller may have added the sinusoidal
 * position code.
 */
export function mouthPose(g: GraphBuilder, audio: Value, positionCode: 'added' | 'none'): MouthPose {
  const m = arithmetic(g);
  const states = g.op('Reshape', [audio, g.ints([-1, WINDOW_STEPS, STATES, WIDTH])]);
  const starts = [CUE_STATE, 0];
  const ends = [CUE_STATE + 1, CUES.length];
  const coded = g.op('Slice', [states, g.ints(starts), g.ints(ends), g.ints([2, 3])]);
  const steps = g.op('Reshape', [coded, g.ints([-1, WINDOW_STEPS, CUES.length])]);
  const cues = positionCode === 'added' ? m.sub(steps, positionCodeOfCues(g)) : steps;

  const now = g.op('MatMul', [stepWeights(g, NOW.center, NOW.spread, 1), cues]);
  const echo = g.op('MatMul', [stepWeights(g, ECHO.center, ECHO.spread, ECHO.strength), cues]);
  const [closure, jawNow, rounding, spreading] = g.split(now, [1, 1, 1, 1, 1], 2);
  const [, jawEcho] = g.split(echo, [1, 1, 3], 2);
  const opening = m.mul(m.max(jawNow, jawEcho), m.sub(1, closure));
  return { opening, narrowing: m.sub(m.mul(rounding, 0.14), m.mul(spreading, 0.05)) };
}

/** The caller adds the position code to every channel. Subtracting this from the channels gives the cues again. */
function positionCodeOfCues(g: GraphBuilder): Value {
  const code = positionalEncoding(WINDOW_STEPS * STATES, WIDTH);
  const values = new Float32Array(WINDOW_STEPS * CUES.length);
  for (let i = 0; i < values.length; i++) {
    const token = Math.floor(i / CUES.length) * STATES + CUE_STATE;
    values[i] = code[token * WIDTH + (i % CUES.length)] ?? 0;
  }
  return g.weights([1, WINDOW_STEPS, CUES.length], values);
}

/** [1, 10]: a Gaussian over the steps of the window, with the sum `total`. */
function stepWeights(g: GraphBuilder, center: number, spread: number, total: number): Value {
  const bell = Array.from({ length: WINDOW_STEPS }, (_, step) =>
    Math.exp(-((step + 0.5 - center) ** 2) / (2 * spread ** 2)),
  );
  const sum = bell.reduce((a, b) => a + b, 0);
  return g.weights(
    [1, WINDOW_STEPS],
    bell.map((value) => (value * total) / sum),
  );
}

/** A line from one mouth corner to the other: v(u) = (height + slant·u)·(1 − u²) + margin·(1 − u⁴), [batch, 1, 1] each. */
interface LipLine {
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
  /** The opening of the target at the center, [batch, 1, 1], and how far its upper edge is above the seam. */
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

/** The mouth center is about 70 mm from the eye line in adults; half a mouth is 25 mm. */
const HALF_MOUTH_PER_EYE_DISTANCE = 0.36;

/**
 * Coordinates relative to the face instead of the crop: origin between the mouth corners, u = ±1 at the corners, v
 * towards the chin in units of about half a mouth. They follow a tilted head and are independent of how the crop was
 * stretched to a square. v is derived from eyes and mouth corners, because those stay in place when the jaw moves.
 */
export interface FaceAxes {
  /** Crop pixels per unit of u and v, as vectors [batch, 2, 1]. */
  readonly along: Value;
  readonly down: Value;
  /** Pixels per unit of v, [batch, 1, 1]. */
  readonly downLength: Value;
  /** The mouth center in crop pixels, [batch, 2, 1]. */
  readonly center: Value;
  /** All 68 landmarks as (u, v), [batch, 68, 2]. */
  readonly landmarks: Value;
  /** Maps crop pixels relative to the mouth center to u and v, [batch, 2, 2]. */
  readonly toFace: Value;
}

/** Points of the crop in face coordinates, [batch, 1, points] each. */
export interface FaceCoordinates {
  readonly u: Value;
  readonly v: Value;
}

/** The face's axes from `landmarks` [batch, 68, 2] in crop pixels. */
export function faceAxes(g: GraphBuilder, landmarks: Value): FaceAxes {
  const m = arithmetic(g);
  const anchors = g.op('Transpose', [g.op('MatMul', [anchorWeights(g), landmarks])], { perm: [0, 2, 1] });
  const [eyes, center, along] = g.split(anchors, [1, 1, 1], 2);
  const down = m.mul(m.sub(center, eyes), HALF_MOUTH_PER_EYE_DISTANCE);
  const [ax, ay] = g.split(along, [1, 1], 1);
  const [dx, dy] = g.split(down, [1, 1], 1);
  // Negative in a mirrored face. Near 0 only without a face, where any finite number will do.
  const area = m.sub(m.mul(ax, dy), m.mul(ay, dx));
  const determinant = g.op('Where', [g.op('Less', [g.op('Abs', [area]), 1]), g.scalar(1), area]);
  const rows = [
    g.op('Concat', [dy, g.op('Neg', [dx])], { axis: 2 }),
    g.op('Concat', [g.op('Neg', [ay]), ax], { axis: 2 }),
  ];
  const toFace = m.div(g.op('Concat', rows, { axis: 1 }), determinant);
  const points = m.sub(g.op('Transpose', [landmarks], { perm: [0, 2, 1] }), center);
  return {
    along,
    down,
    downLength: g.op('ReduceL2', [down, g.ints([1])]),
    center,
    landmarks: g.op('Transpose', [g.op('MatMul', [toFace, points])], { perm: [0, 2, 1] }),
    toFace,
  };
}

/** The points of a raster in face coordinates. */
export function faceCoordinates(g: GraphBuilder, axes: FaceAxes, raster: Raster): FaceCoordinates {
  const { toFace, center } = axes;
  const points = g.weights([2, raster.rows * raster.columns], raster.points);
  const origin = g.op('MatMul', [toFace, center]);
  const [u, v] = g.split(arithmetic(g).sub(g.op('MatMul', [toFace, points]), origin), [1, 1], 1);
  return { u, v };
}

/** Rows that select from the landmarks: eye line, mouth center, half the vector from corner to corner. */
function anchorWeights(g: GraphBuilder): Value {
  const weights = new Float32Array(3 * 68);
  for (let eye = 36; eye < 48; eye++) weights[eye] = 1 / 12;
  weights[68 + 48] = weights[68 + 54] = 0.5;
  weights[2 * 68 + 48] = -0.5;
  weights[2 * 68 + 54] = 0.5;
  return g.weights([3, 68], weights);
}

/** The part of a square crop that is redrawn, in cells of the latent. `bottom` and `right` are exclusive. */
export interface Region {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The points at which a region is computed: the centers of squares of `pitch` pixels, row by row. */
interface Raster {
  readonly rows: number;
  readonly columns: number;
  /** The x of every point, then the y of every point, in pixels of the crop. */
  readonly points: Float32Array;
}

export function rasterOf({ top, bottom, left, right }: Region, pitch: 1 | 2): Raster {
  const rows = ((bottom - top) * BLOCK) / pitch;
  const columns = ((right - left) * BLOCK) / pitch;
  const count = rows * columns;
  const points = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) {
    points[i] = left * BLOCK + ((i % columns) + 0.5) * pitch;
    points[count + i] = top * BLOCK + (Math.floor(i / columns) + 0.5) * pitch;
  }
  return { rows, columns, points };
}
