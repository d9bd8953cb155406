import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { type Raster } from './region';

/** The mouth centre is about 70 mm from the eye line in adults; half a mouth is 25 mm. */
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
  /** The mouth centre in crop pixels, [batch, 2, 1]. */
  readonly centre: Value;
  /** All 68 landmarks as (u, v), [batch, 68, 2]. */
  readonly landmarks: Value;
  /** Maps crop pixels relative to the mouth centre to u and v, [batch, 2, 2]. */
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
  const [eyes, centre, along] = split(g, anchors, 2);
  const down = m.mul(m.sub(centre, eyes), HALF_MOUTH_PER_EYE_DISTANCE);
  const [ax, ay] = split(g, along, 1);
  const [dx, dy] = split(g, down, 1);
  // Negative in a mirrored face. Near 0 only without a face, where any finite number will do.
  const area = m.sub(m.mul(ax, dy), m.mul(ay, dx));
  const determinant = g.op('Where', [g.op('Less', [g.op('Abs', [area]), 1]), g.scalar(1), area]);
  const rows = [
    g.op('Concat', [dy, g.op('Neg', [dx])], { axis: 2 }),
    g.op('Concat', [g.op('Neg', [ay]), ax], { axis: 2 }),
  ];
  const toFace = m.div(g.op('Concat', rows, { axis: 1 }), determinant);
  const points = m.sub(g.op('Transpose', [landmarks], { perm: [0, 2, 1] }), centre);
  return {
    along,
    down,
    downLength: g.op('ReduceL2', [down, g.ints([1])]),
    centre,
    landmarks: g.op('Transpose', [g.op('MatMul', [toFace, points])], { perm: [0, 2, 1] }),
    toFace,
  };
}

/** The points of a raster in face coordinates. */
export function faceCoordinates(g: GraphBuilder, axes: FaceAxes, raster: Raster): FaceCoordinates {
  const { toFace, centre } = axes;
  const points = g.weights([2, raster.rows * raster.columns], raster.points);
  const origin = g.op('MatMul', [toFace, centre]);
  const [u, v] = split(g, arithmetic(g).sub(g.op('MatMul', [toFace, points]), origin), 1);
  return { u, v };
}

/** Rows that select from the landmarks: eye line, mouth centre, half the vector from corner to corner. */
function anchorWeights(g: GraphBuilder): Value {
  const weights = new Float32Array(3 * 68);
  for (let eye = 36; eye < 48; eye++) weights[eye] = 1 / 12;
  weights[68 + 48] = weights[68 + 54] = 0.5;
  weights[2 * 68 + 48] = -0.5;
  weights[2 * 68 + 54] = 0.5;
  return g.weights([3, 68], weights);
}

/** Splits an axis into parts of size 1: three for axis 2 of the anchors, two for the coordinates. */
function split(g: GraphBuilder, value: Value, axis: 1 | 2): [Value, Value, Value] {
  const count = axis === 2 ? 3 : 2;
  const parts = g.multi('Split', [value, g.ints(Array.from({ length: count }, () => 1))], count, { axis });
  const [first, second, third = second] = parts;
  if (first === undefined || second === undefined || third === undefined)
    throw new RangeError('Split gives parts');
  return [first, second, third];
}
