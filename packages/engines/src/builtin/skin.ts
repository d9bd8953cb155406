import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { type Planes } from './autoencoder';
import { type FaceAxes } from './face-axes';

/** Sample points on the skin beside and below the mouth, as (u, v). */
const SKIN_SPOTS = [
  [-1.5, 0.1],
  [-1.4, -0.5],
  [1.5, 0.1],
  [1.4, -0.5],
  [-0.3, 1.15],
  [0.3, 1.15],
] as const;

/** A rectangle of pixels that planes show, in pixels of the picture to which the face's axes belong. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Mean brightness and color differences of the skin around the mouth, [batch, 3, 1], in the range of the planes. */
export function skinColors(g: GraphBuilder, picture: Planes, axes: FaceAxes, frame: Frame): Value {
  const spots = (index: 0 | 1): Value =>
    g.weights(
      [1, 1, SKIN_SPOTS.length],
      SKIN_SPOTS.map((spot) => spot[index]),
    );
  const points = pointsOf(g, inUnits(g, axes, frame), spots(0), spots(1));
  const planes = [picture.luma, picture.chroma].map((plane) =>
    sample(g, plane, points, 1, SKIN_SPOTS.length),
  );
  const colors = g.op('ReduceMean', [g.op('Concat', planes, { axis: 1 }), g.ints([2, 3])], { keepdims: 0 });
  return g.op('Unsqueeze', [colors, g.ints([2])]);
}

/** An origin and two axes in a picture, [batch, 2, 1] each. */
export interface PictureAxes {
  readonly center: Value;
  readonly along: Value;
  readonly down: Value;
}

/** Converts axes in pixels to units in which the frame is [-1, 1]². */
export function inUnits(
  g: GraphBuilder,
  { center, along, down }: PictureAxes,
  { left, top, width, height }: Frame,
): PictureAxes {
  const m = arithmetic(g);
  const scale = g.weights([1, 2, 1], [2 / width, 2 / height]);
  const origin = g.weights([1, 2, 1], [(2 * left) / width + 1, (2 * top) / height + 1]);
  return {
    center: m.sub(m.mul(center, scale), origin),
    along: m.mul(along, scale),
    down: m.mul(down, scale),
  };
}

/** Face coordinates [batch, 1, n] each → points in the picture, [batch, 2, n]. */
export function pointsOf(g: GraphBuilder, { center, along, down }: PictureAxes, u: Value, v: Value): Value {
  const m = arithmetic(g);
  return m.add(m.mul(along, u), m.mul(down, v), center);
}

/** Samples a plane at `points` [batch, 2, rows·columns], in units in which the plane is [-1, 1]². */
export function sample(g: GraphBuilder, plane: Value, points: Value, rows: number, columns: number): Value {
  const pairs = g.op('Transpose', [points], { perm: [0, 2, 1] });
  const grid = g.op('Reshape', [pairs, g.ints([-1, rows, columns, 2])]);
  return g.op('GridSample', [plane, grid], { mode: 'linear', padding_mode: 'border', align_corners: 0 });
}
