import { NOSE_TIP } from '@lipsync/engines';
import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { BLOCK } from '../autoencoder';

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
  /** Width of the mouth over the distance of the eyes, [batch, 1, 1]. A turned head changes both. */
  readonly mouthWidth: Value;
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
  const [eyes, center, along, eyeReach] = g.split(anchors, [1, 1, 1, 1], 2);
  const lengthOf = (vector: Value): Value => g.op('ReduceL2', [vector, g.ints([1])]);
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
    downLength: lengthOf(down),
    center,
    mouthWidth: m.div(lengthOf(along), m.max(lengthOf(eyeReach), 1)),
    landmarks: g.op('Transpose', [g.op('MatMul', [toFace, points])], { perm: [0, 2, 1] }),
    toFace,
  };
}

/** From 0 to 1 with `downLength`, in pixels: landmarks that lie in one point mean that there is no face. */
export function faceShown(g: GraphBuilder, downLength: Value): Value {
  return arithmetic(g).ramp(downLength, 1, 3);
}

/**
 * Where the tip of the nose is between the mouth's corners, as u, [batch, 1, 1]: near 0 in a face from the front, 0.4
 * when the head is turned by 20°, 0.8 by 40°, 1.5 by 60°.
 */
export function turnOf(g: GraphBuilder, { landmarks }: Pick<FaceAxes, 'landmarks'>): Value {
  return g.op('Slice', [landmarks, g.ints([NOSE_TIP, 0]), g.ints([NOSE_TIP + 1, 1]), g.ints([1, 2])]);
}

/** The points of a raster in face coordinates. */
export function faceCoordinates(g: GraphBuilder, axes: FaceAxes, raster: Raster): FaceCoordinates {
  const { toFace, center } = axes;
  const points = g.weights([2, raster.rows * raster.columns], raster.points);
  const origin = g.op('MatMul', [toFace, center]);
  const [u, v] = g.split(arithmetic(g).sub(g.op('MatMul', [toFace, points]), origin), [1, 1], 1);
  return { u, v };
}

/**
 * Rows that select from the landmarks: eye line, mouth center, half the vectors from corner to corner and from eye to
 * eye.
 */
function anchorWeights(g: GraphBuilder): Value {
  const weights = new Float32Array(4 * 68);
  for (let eye = 36; eye < 48; eye++) weights[eye] = 1 / 12;
  weights[68 + 48] = weights[68 + 54] = 0.5;
  weights[2 * 68 + 48] = -0.5;
  weights[2 * 68 + 54] = 0.5;
  for (let eye = 36; eye < 48; eye++) weights[3 * 68 + eye] = (eye < 42 ? -1 : 1) / 12;
  return g.weights([4, 68], weights);
}

/** The part of a square crop that is redrawn, in cells of the latent. `bottom` and `right` are exclusive. */
export interface Region {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The points at which a region is computed: the centers of squares of `pitch` pixels, row by row. */
export interface Raster {
  readonly rows: number;
  readonly columns: number;
  /** The x of every point, then the y of every point, in pixels of the crop. */
  readonly points: Float32Array;
}

export function rasterOf({ top, bottom, left, right }: Region, pitch: number): Raster {
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
