import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { type Ladder, type Rungs } from './exemplars';
import { type FaceAxes } from './face-axes';
import { heightOf, NOSE_BASE } from './lips';
import { EXEMPLAR_FRAME, type Frame, inUnits, pointsOf, sample } from './sampling';

/*
 * The exemplars were cut from faces that hold still. In a face that motion has blurred they would be too sharp, so they
 * are blurred as it is. A graph sees no neighboring frames, but how much of the steepness of nose, lips and folds lies in
 * short distances: that is nearly the same in all sharp pictures of a face, however it is turned and lit, and much less
 * in blurred ones.
 */

/**
 * Where it is looked at, from the base of the nose, in units of u and v, so many apart: down to below the lips, and of
 * that again at the nose alone. Motion blurs both. What only one of them shows is another shape of the mouth, or how the
 * nose is turned.
 */
const LOOK = { left: -2, top: -0.6, columns: 67, rows: { face: 36, nose: 15 }, apart: 0.06 };
/** Steepness over so many points is compared with that from point to point. */
const FAR = 4;

/**
 * How long a blur is, in units of u and v, by how many times (as a logarithm) shorter differences have become relative
 * to those in the exemplars; sharp pictures differ by up to `from`.
 */
const BLUR = { from: 0.35, surely: 0.6, length: 0.24, most: 4 };
/**
 * How many times (as a logarithm) the picture must be less fine than the least fine exemplar: those are sharp, too. A face
 * with a broad grin is half as fine as with closed lips.
 */
const SOFTEST = { from: 0.1, surely: 0.2 };

/** How far the picture is smeared, in pixels of the crop, [batch, 1, 1, 1] each. */
export interface Blur {
  readonly across: Value;
  readonly down: Value;
}

/** How far motion has blurred the faces of a picture relative to their exemplars; 0 if nearly as sharp. */
export function motionBlur(
  g: GraphBuilder,
  picture: { readonly luma: Value; readonly axes: FaceAxes; readonly frame: Frame },
  ladder: Ladder,
  { weight }: Rungs,
): Blur {
  const m = arithmetic(g);
  const { axes } = picture;
  const now = fineness(g, picture);
  const still = fineness(g, { ...ladder, frame: EXEMPLAR_FRAME });
  const [along, down] = (['along', 'down'] as const).map((direction) => {
    /** How many times as fine as the picture the exemplars are, as a logarithm. */
    const finer = (all: 'ReduceMean' | 'ReduceMin'): Value => {
      const [face, nose] = (['face', 'nose'] as const).map((part) =>
        m.div(g.op(all, [still[part][direction], g.ints([0])]), now[part][direction]),
      ) as [Value, Value];
      return g.op('Log', [m.min(face, nose)]);
    };
    const times = finer('ReduceMean');
    const length = m.mul(m.clamp(times, 0, BLUR.most), BLUR.length);
    const softest = m.ramp(finer('ReduceMin'), SOFTEST.from, SOFTEST.surely);
    return m.mul(length, m.ramp(times, BLUR.from, BLUR.surely), softest, weight);
  }) as [Value, Value];
  const lengths = [m.mul(axes.along, along), m.mul(axes.down, down)];
  const [x, y] = g.split(m.add(...(lengths.map(m.square) as [Value, Value])), [1, 1], 1);
  const pixels = (squared: Value): Value => g.op('Unsqueeze', [g.op('Sqrt', [squared]), g.ints([1])]);
  return { across: pixels(x), down: pixels(y) };
}

/** By how much differences from point to point are larger than in a straight rise, [batch, 1, 1] each; above 0. */
interface Fineness {
  readonly along: Value;
  readonly down: Value;
}

/** The fineness of all that is looked at, and of the nose. */
function fineness(
  g: GraphBuilder,
  { luma, axes, frame }: { readonly luma: Value; readonly axes: FaceAxes; readonly frame: Frame },
): { readonly face: Fineness; readonly nose: Fineness } {
  const m = arithmetic(g);
  const { left, top, columns, rows, apart } = LOOK;
  const count = rows.face * columns;
  const u = Array.from({ length: count }, (_, i) => left + (i % columns) * apart);
  const v = Array.from({ length: count }, (_, i) => top + Math.floor(i / columns) * apart);
  const height = m.add(heightOf(g, axes.landmarks, NOSE_BASE), g.weights([1, 1, count], v));
  const points = pointsOf(g, inUnits(g, axes, frame), g.weights([1, 1, count], u), height);
  const face = g.op('Reshape', [sample(g, luma, points), g.ints([-1, rows.face, columns])]);
  const nose = g.op('Slice', [face, g.ints([0]), g.ints([rows.nose]), g.ints([1])]);
  return { face: finenessOf(g, face, rows.face), nose: finenessOf(g, nose, rows.nose) };
}

/** @param look [batch, rows, columns] of LOOK */
function finenessOf(g: GraphBuilder, look: Value, rows: number): Fineness {
  const m = arithmetic(g);
  const steepness = (axis: 1 | 2, step: number): Value => {
    const size = axis === 1 ? rows : LOOK.columns;
    const part = (from: number): Value =>
      g.op('Slice', [look, g.ints([from]), g.ints([size - step + from]), g.ints([axis])]);
    return g.op('ReduceMean', [m.square(m.sub(part(step), part(0))), g.ints([1, 2])]);
  };
  const along = (axis: 1 | 2): Value => {
    const ratio = m.div(steepness(axis, 1), m.add(steepness(axis, FAR), 1e-9));
    return m.max(m.sub(m.mul(g.op('Sqrt', [ratio]), FAR), 1), 0.01);
  };
  return { along: along(2), down: along(1) };
}

/** Smears a plane [batch, channels, rows, columns] evenly over these lengths; beyond its ends there is nothing. */
export function smeared(g: GraphBuilder, plane: Value, { across, down }: Blur): Value {
  const m = arithmetic(g);
  const shape = g.op('Shape', [plane]);
  /** [batch, 1, size, size]: what each row (or column) gets from the others. */
  const shares = (axis: 2 | 3, length: Value): Value => {
    const size = g.op('Gather', [shape, g.constant('int64', [], [axis])]);
    const zero = g.constant('int64', [], [0]);
    const one = g.constant('int64', [], [1]);
    const places = g.op('Cast', [g.op('Range', [zero, size, one])], { to: 1 });
    const away = g.op('Abs', [m.sub(g.op('Unsqueeze', [places, g.ints([1])]), places)]);
    const within = m.clamp(m.sub(m.add(m.max(m.mul(length, 0.5), 0.5), 0.5), away), 0, 1);
    return m.div(within, g.op('ReduceSum', [within, g.ints([3])]));
  };
  const downwards = g.op('MatMul', [shares(2, down), plane]);
  const sideways = g.op('Transpose', [shares(3, across)], { perm: [0, 1, 3, 2] });
  return g.op('MatMul', [downwards, sideways]);
}
