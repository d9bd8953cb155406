import { EXEMPLAR_SIDE } from '@lipsync/engines';
import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';

/** A rectangle of pixels that planes show, in pixels of the picture to which the face's axes belong. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An exemplar shows all of its picture. */
export const EXEMPLAR_FRAME: Frame = { left: 0, top: 0, width: EXEMPLAR_SIDE, height: EXEMPLAR_SIDE };

/** An origin and two axes in a picture, [batch, 2, 1] each. */
interface PictureAxes {
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

/**
 * Samples a plane [batch, channels, rows, columns] at `points` [batch, 2, n], in units in which the plane is [-1, 1]²;
 * [batch, channels, n]. Linear interpolation between pixels takes a third to a half of the energy of hair; cubic keeps
 * it, at a quarter more time.
 */
export function sample(
  g: GraphBuilder,
  plane: Value,
  points: Value,
  mode: 'linear' | 'cubic' = 'linear',
): Value {
  const pairs = g.op('Transpose', [points], { perm: [0, 2, 1] });
  const grid = g.op('Unsqueeze', [pairs, g.ints([1])]);
  const row = g.op('GridSample', [plane, grid], { mode, padding_mode: 'border', align_corners: 0 });
  return g.op('Squeeze', [row, g.ints([2])]);
}

/** Samples one plane [1, channels, rows, columns] at the points of every picture, [batch, 2, n]; [batch, channels, n]. */
export function sampleShared(g: GraphBuilder, plane: Value, points: Value): Value {
  const pairs = g.op('Transpose', [points], { perm: [0, 2, 1] });
  const grid = g.op('Unsqueeze', [pairs, g.ints([0])]);
  const rows = g.op('GridSample', [plane, grid], {
    mode: 'linear',
    padding_mode: 'border',
    align_corners: 0,
  });
  return g.op('Transpose', [g.op('Squeeze', [rows, g.ints([0])])], { perm: [1, 0, 2] });
}
