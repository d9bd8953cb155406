import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { FROM_RGB, TO_RGB } from './colours';
import { type FaceAxes, faceAxes, faceCoordinates } from './face-axes';
import { BLOCK, cellsOf, LATENT_SCALE, type Planes, planesOf } from './latent-planes';
import { lipLines } from './lip-lines';
import { lipWarp } from './lip-warp';
import { mouthInterior, type MouthPalette, mouthPalette } from './mouth-interior';
import { type MouthPose } from './mouth-pose';
import { rasterOf, type Region } from './region';

/** Sample points on the skin beside and below the mouth, as (u, v). */
const SKIN_SPOTS = [
  [-1.5, 0.1],
  [-1.4, -0.5],
  [1.5, 0.1],
  [1.4, -0.5],
  [-0.3, 1.15],
  [0.3, 1.15],
] as const;

/**
 * Redraws a region of a face with the mouth in `pose`: moves lips and chin, and paints what shows between parted lips.
 * `cells` [batch, 96, rows, columns] are the region's part of the picture's scaled latent; `landmarks` [batch, 68, 2]
 * are those of the face in pixels of the whole crop. Returns the cells of the new picture.
 */
export function drawMouth(
  g: GraphBuilder,
  cells: Value,
  landmarks: Value,
  pose: MouthPose,
  region: Region,
): Value {
  const m = arithmetic(g);
  const picture = planesOf(g, cells);
  const axes = faceAxes(g, landmarks);
  const lines = lipLines(g, axes, pose);
  const palette = mouthPalette(g, skinColour(g, picture, axes, region));

  /**
   * Draws one plane, with one point per `pitch`² pixels. `terms` are its rows in the colour matrix, `black` its value
   * for black.
   */
  const drawn = (plane: Value, pitch: 1 | 2, terms: readonly number[], black: number): Value => {
    const raster = rasterOf(region, pitch);
    const shape = (channels: number): Value => g.ints([-1, channels, raster.rows, raster.columns]);
    const at = faceCoordinates(g, axes, raster);
    const warp = lipWarp(g, axes, at, lines, pose);
    const shift = m.add(
      m.mul(toUnits(g, axes.along, region), warp.shiftU),
      m.mul(toUnits(g, axes.down, region), warp.shiftV),
    );
    const centres = g.weights([1, 2, raster.points.length / 2], unitPoints(raster.points, region));
    const warped = sample(g, plane, m.add(shift, centres), raster.rows, raster.columns);
    const { colour, cover } = mouthInterior(g, axes, at, lines, warp, inPlane(g, palette, terms));
    const inside = g.op('Reshape', [m.add(colour, black), shape(terms.length)]);
    return m.mix(warped, inside, g.op('Reshape', [cover, shape(1)]));
  };
  return cellsOf(g, {
    luma: drawn(picture.luma, 1, [0], -LATENT_SCALE),
    chroma: drawn(picture.chroma, 2, [1, 2], 0),
  });
}

/** Samples a plane of a region at `points` [batch, 2, rows·columns], in units in which the region is [-1, 1]². */
function sample(g: GraphBuilder, plane: Value, points: Value, rows: number, columns: number): Value {
  const pairs = g.op('Transpose', [points], { perm: [0, 2, 1] });
  const grid = g.op('Reshape', [pairs, g.ints([-1, rows, columns, 2])]);
  return g.op('GridSample', [plane, grid], { mode: 'linear', padding_mode: 'border', align_corners: 0 });
}

/** Mean colour of the skin around the mouth, [batch, 3, 1] in [0, 1]. */
function skinColour(g: GraphBuilder, picture: Planes, axes: FaceAxes, region: Region): Value {
  const m = arithmetic(g);
  const spots = (index: 0 | 1): Value =>
    g.weights(
      [1, 1, SKIN_SPOTS.length],
      SKIN_SPOTS.map((spot) => spot[index]),
    );
  const pixels = m.add(axes.centre, m.mul(axes.along, spots(0)), m.mul(axes.down, spots(1)));
  const origin = g.weights([1, 2, 1], [region.left * BLOCK, region.top * BLOCK]);
  const points = m.sub(toUnits(g, m.sub(pixels, origin), region), 1);
  const planes = [picture.luma, picture.chroma].map((plane) =>
    sample(g, plane, points, 1, SKIN_SPOTS.length),
  );
  const colours = g.op('ReduceMean', [g.op('Concat', planes, { axis: 1 }), g.ints([2, 3])], { keepdims: 0 });
  const column = g.op('Unsqueeze', [m.div(colours, LATENT_SCALE), g.ints([2])]);
  const rgb = g.op('MatMul', [g.weights([3, 3], TO_RGB.flat()), column]);
  return m.clamp(m.mul(m.add(rgb, 1), 0.5), 0.05, 1);
}

/** Converts the palette to the plane of these rows of the colour matrix, and from [0, 1] to the range of the latent. */
function inPlane(g: GraphBuilder, palette: MouthPalette, terms: readonly number[]): MouthPalette {
  const rows = terms.flatMap((term) => (FROM_RGB[term] ?? []).map((weight) => weight * 2 * LATENT_SCALE));
  const weights = g.weights([terms.length, 3], rows);
  const converted = (colour: Value): Value => g.op('MatMul', [weights, colour]);
  return {
    cavity: converted(palette.cavity),
    tongue: converted(palette.tongue),
    teeth: converted(palette.teeth),
  };
}

/** Converts lengths in pixels, [batch, 2, n], to units in which the region is 2 wide and 2 high. */
function toUnits(g: GraphBuilder, pixels: Value, region: Region): Value {
  const { width, height } = sizeOf(region);
  return arithmetic(g).mul(pixels, g.weights([1, 2, 1], [2 / width, 2 / height]));
}

function unitPoints(points: Float32Array, region: Region): Float32Array {
  const { width, height } = sizeOf(region);
  const count = points.length / 2;
  return points.map((value, i) =>
    i < count
      ? ((value - region.left * BLOCK) / width) * 2 - 1
      : ((value - region.top * BLOCK) / height) * 2 - 1,
  );
}

function sizeOf({ top, bottom, left, right }: Region): { width: number; height: number } {
  return { width: (right - left) * BLOCK, height: (bottom - top) * BLOCK };
}
