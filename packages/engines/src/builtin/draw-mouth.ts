import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from './arithmetic';
import { BLOCK, cellsOf, FROM_RGB, LATENT_SCALE, type Planes, planesOf, TO_RGB } from './autoencoder';
import {
  type FaceAxes,
  faceAxes,
  type FaceCoordinates,
  faceCoordinates,
  lineAt,
  type LipLines,
  lipLines,
  type MouthPose,
  rasterOf,
  type Region,
} from './mouth-shape';

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
  const palette = mouthPalette(g, skinColor(g, picture, axes, region));

  /**
   * Draws one plane, with one point per `pitch`² pixels. `terms` are its rows in the color matrix, `black` its value
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
    const centers = g.weights([1, 2, raster.points.length / 2], unitPoints(raster.points, region));
    const warped = sample(g, plane, m.add(shift, centers), raster.rows, raster.columns);
    const { color, cover } = mouthInterior(g, axes, at, lines, warp, inPlane(g, palette, terms));
    const inside = g.op('Reshape', [m.add(color, black), shape(terms.length)]);
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

/** Mean color of the skin around the mouth, [batch, 3, 1] in [0, 1]. */
function skinColor(g: GraphBuilder, picture: Planes, axes: FaceAxes, region: Region): Value {
  const m = arithmetic(g);
  const spots = (index: 0 | 1): Value =>
    g.weights(
      [1, 1, SKIN_SPOTS.length],
      SKIN_SPOTS.map((spot) => spot[index]),
    );
  const pixels = m.add(axes.center, m.mul(axes.along, spots(0)), m.mul(axes.down, spots(1)));
  const origin = g.weights([1, 2, 1], [region.left * BLOCK, region.top * BLOCK]);
  const points = m.sub(toUnits(g, m.sub(pixels, origin), region), 1);
  const planes = [picture.luma, picture.chroma].map((plane) =>
    sample(g, plane, points, 1, SKIN_SPOTS.length),
  );
  const colors = g.op('ReduceMean', [g.op('Concat', planes, { axis: 1 }), g.ints([2, 3])], { keepdims: 0 });
  const column = g.op('Unsqueeze', [m.div(colors, LATENT_SCALE), g.ints([2])]);
  const rgb = g.op('MatMul', [g.weights([3, 3], TO_RGB.flat()), column]);
  return m.clamp(m.mul(m.add(rgb, 1), 0.5), 0.05, 1);
}

/** Converts the palette to the plane of these rows of the color matrix, and from [0, 1] to the range of the latent. */
function inPlane(g: GraphBuilder, palette: MouthPalette, terms: readonly number[]): MouthPalette {
  const rows = terms.flatMap((term) => (FROM_RGB[term] ?? []).map((weight) => weight * 2 * LATENT_SCALE));
  const weights = g.weights([terms.length, 3], rows);
  const converted = (color: Value): Value => g.op('MatMul', [weights, color]);
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

/** A sequence of latents, [96, frames, side, side], `side` cells wide. */
interface Film {
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

/**
 * The distance from each point to its source, in face coordinates, and the lip edges of the target: all [batch, 1,
 * points].
 */
interface LipWarp {
  readonly shiftU: Value;
  readonly shiftV: Value;
  /** u after narrowing: ±1 at the target's mouth corners. */
  readonly mouthU: Value;
  readonly upperEdge: Value;
  readonly lowerEdge: Value;
  readonly seam: Value;
}

/** Thickness of the lower lip, which moves as one piece. */
const LIP = 0.35;
/** The part of the mouth's width over which the lips part. Towards the corners they stay together. */
const PARTING = 0.93;
const NOSE_BASE = 33;
const CHIN = 8;

function lipWarp(
  g: GraphBuilder,
  axes: FaceAxes,
  { u, v }: FaceCoordinates,
  lines: LipLines,
  pose: MouthPose,
): LipWarp {
  const m = arithmetic(g);
  const nearMouth = m.mul(m.square(m.dome(u, 2)), m.square(m.dome(v, 1.1)));
  const shiftU = m.mul(m.mul(u, pose.narrowing), nearMouth);
  const mouthU = m.add(u, shiftU);
  const profile = m.dome(mouthU, 1);
  const parting = m.dome(mouthU, PARTING);
  const seam = lineAt(g, lines.seam, mouthU, profile);
  const upperEdge = m.sub(seam, m.mul(lines.rise, parting));
  const lowerEdge = m.add(seam, m.mul(m.sub(lines.gap, lines.rise), parting));

  const nose = m.min(heightOf(g, axes.landmarks, NOSE_BASE), -0.4);
  const chin = m.max(heightOf(g, axes.landmarks, CHIN), 1.2);
  const upperShift = m.mul(
    m.sub(lineAt(g, lines.upper, mouthU, profile), upperEdge),
    m.smooth(m.ramp(v, nose, upperEdge)),
  );
  // Below the lip the movement spreads sideways into a soft bell and fades out at the chin.
  const atEdge = m.sub(lineAt(g, lines.lower, mouthU, profile), lowerEdge);
  const below = g.op('Relu', [m.sub(v, lowerEdge)]);
  const atCenter = m.sub(
    m.add(lines.lower.height, lines.lower.margin),
    m.add(lines.seam.height, m.sub(lines.gap, lines.rise)),
  );
  const bell = m.mul(atCenter, m.square(m.dome(mouthU, m.add(m.mul(below, 0.35), 1.15))));
  const lowerShift = m.mul(
    m.mix(atEdge, bell, m.smooth(m.ramp(below, 0, 0.4))),
    m.smooth(m.ramp(v, chin, m.add(lowerEdge, LIP))),
  );
  const isLower = g.op('Greater', [v, m.mul(m.add(upperEdge, lowerEdge), 0.5)]);
  const shiftV = g.op('Where', [isLower, lowerShift, upperShift]);
  return { shiftU, shiftV, mouthU, upperEdge, lowerEdge, seam };
}

function heightOf(g: GraphBuilder, landmarks: Value, index: number): Value {
  return g.op('Slice', [landmarks, g.ints([index, 1]), g.ints([index + 1, 2]), g.ints([1, 2])]);
}

/** What shows between parted lips. */
interface MouthInterior {
  /** [batch, channels, points], in the channels of the palette. */
  readonly color: Value;
  /** [batch, 1, points]: 1 inside, 0 on the lips, soft over a pixel between. */
  readonly cover: Value;
}

/** Colors of one face as [batch, channels, 1], relative to black. */
interface MouthPalette {
  readonly cavity: Value;
  readonly tongue: Value;
  readonly teeth: Value;
}

/** Colors relative to the skin, so that dark and light faces, in warm and cold light, get their own. */
const CAVITY = [0.3, 0.17, 0.16];
const TONGUE = [0.62, 0.36, 0.36];
/** Teeth are paler than skin but in the same light. */
const TEETH = { ofGray: 0.62, ofSkin: 0.55, tint: [1.1, 1.03, 0.92] };

/** How dark the line between closed lips is. */
const SEAM_SHADOW = 0.5;

/** The palette as RGB in [0, 1], for `skin` [batch, 3, 1] in [0, 1]. */
function mouthPalette(g: GraphBuilder, skin: Value): MouthPalette {
  const m = arithmetic(g);
  const tinted = (color: Value, factors: readonly number[]): Value =>
    m.mul(color, g.weights([1, 3, 1], factors));
  const gray = g.op('ReduceMean', [skin, g.ints([1])]);
  return {
    cavity: tinted(skin, CAVITY),
    tongue: tinted(skin, TONGUE),
    teeth: tinted(m.add(m.mul(gray, TEETH.ofGray), m.mul(skin, TEETH.ofSkin)), TEETH.tint),
  };
}

function mouthInterior(
  g: GraphBuilder,
  axes: FaceAxes,
  { v }: FaceCoordinates,
  lines: LipLines,
  warp: LipWarp,
  palette: MouthPalette,
): MouthInterior {
  const m = arithmetic(g);
  const { downLength } = axes;
  const { upperEdge, lowerEdge, mouthU, seam } = warp;

  // Upper teeth belong to the skull, so their edge stays just below where the lips meet.
  const teethEdge = m.add(seam, m.mul(m.dome(mouthU, 0.95), 0.09));
  const teeth = m.mul(
    m.ramp(m.mul(m.sub(teethEdge, v), downLength), -0.5 / 0.6, 0.5 / 0.6),
    m.smooth(m.ramp(mouthU, -0.85, -0.45)),
    m.smooth(m.ramp(mouthU, 0.85, 0.45)),
  );
  const tongueTop = m.sub(lowerEdge, m.mul(m.dome(mouthU, 0.75), m.mul(lines.gap, 0.4)));
  const tongue = m.smooth(m.ramp(m.mul(m.sub(v, tongueTop), downLength), -0.5 / 0.3, 0.5 / 0.3));

  // The upper lip casts a shadow on the teeth.
  const lit = m.clamp(m.add(m.mul(m.sub(v, upperEdge), 4), 0.55), 0.55, 0.95);
  const throat = m.add(palette.cavity, m.mul(m.mul(m.sub(palette.tongue, palette.cavity), 0.8), tongue));
  const visible = m.mul(teeth, m.mul(m.ramp(lines.gap, 0.02, 0.32), 0.9));
  const color = m.mix(throat, m.mul(palette.teeth, lit), visible);

  const inside = m.mul(m.min(m.sub(v, upperEdge), m.sub(lowerEdge, v)), downLength);
  // Lips that were pulled together lack the dark line between closed lips.
  const line = m.mul(
    m.ramp(inside, -2, 0),
    m.mul(m.ramp(m.dome(mouthU, 0.97), 0, 0.4), m.mul(lines.wasOpen, SEAM_SHADOW)),
  );
  return { color, cover: m.max(m.ramp(inside, 0, 1 / 0.6), line) };
}
