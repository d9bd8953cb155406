import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { drawMouth } from './draw-mouth';
import { type MouthPose } from './mouth-pose';
import { type Region } from './region';

/** A sequence of latents, [96, frames, side, side], `side` cells wide. */
export interface Film {
  readonly latents: Value;
  readonly side: number;
}

/**
 * Returns the sequence with the mouth redrawn in a region of every frame. Every cell outside keeps its value.
 * `landmarks` [frames, 68, 2] are in pixels of the crop, `pose` has one per frame.
 */
export function redrawRegion(
  g: GraphBuilder,
  { latents, side }: Film,
  landmarks: Value,
  pose: MouthPose,
  region: Region,
): Value {
  const m = arithmetic(g);
  const { top, bottom, left, right } = region;
  const before = g.op('Slice', [latents, g.ints([top, left]), g.ints([bottom, right]), g.ints([2, 3])]);
  const cells = g.op('Transpose', [before], { perm: [1, 0, 2, 3] });
  const drawn = drawMouth(g, cells, landmarks, pose, region);
  const change = m.sub(g.op('Transpose', [drawn], { perm: [1, 0, 2, 3] }), before);
  const around = g.ints([0, 0, top, left, 0, 0, side - bottom, side - right]);
  return m.add(latents, g.op('Pad', [change, around]));
}
