import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { EXEMPLAR_SIDE } from '../face/mouth-exemplars';
import { arithmetic } from './arithmetic';
import { BLOCK, cellsOf, LATENT_SCALE, planesOf } from './autoencoder';
import { type ExemplarInputs, type Ladder, ladder, type Rungs, rungsFor } from './exemplars';
import {
  type FaceAxes,
  faceAxes,
  type FaceCoordinates,
  faceCoordinates,
  type Raster,
  rasterOf,
  type Region,
} from './face-axes';
import { heightOf, lineAt, type LipMotion, lipMotion, measuredLips } from './lips';
import { mouthInterior, mouthPalette, paletteIn } from './mouth-interior';
import { type MouthPose } from './mouth-pose';
import { CLEARANCE, type Frame, inUnits, meanColor, pointsOf, relighting, sample, skinColors } from './skin';

/** What a graph knows of the faces it draws. */
export interface DrawnFaces extends ExemplarInputs {
  /** [batch, 68, 2], in pixels of the whole crop. */
  readonly landmarks: Value;
}

/**
 * Redraws a region of a face with the mouth in `pose`: moves lips, cheeks and chin, takes lips and teeth from the clip's
 * own mouths at such an opening (as Video Rewrite does, Bregler, Covell and Slaney 1997), and paints what shows between
 * parted lips where the clip has no such mouth. `cells` [batch, 96, rows, columns] are the region's part of the
 * picture's scaled latent. Returns the cells of the new picture.
 */
export function drawMouth(
  g: GraphBuilder,
  cells: Value,
  faces: DrawnFaces,
  pose: MouthPose,
  region: Region,
): Value {
  const m = arithmetic(g);
  const picture = planesOf(g, cells);
  const axes = faceAxes(g, faces.landmarks);
  const own = ladder(g, faces);
  const lips = measuredLips(g, axes);
  const motion = lipMotion(g, axes, lips, own.habits, pose);
  const rungs = rungsFor(g, own, axes, motion.gap);
  const frame = {
    left: region.left * BLOCK,
    top: region.top * BLOCK,
    width: (region.right - region.left) * BLOCK,
    height: (region.bottom - region.top) * BLOCK,
  };
  const skin = skinColors(g, picture, axes, lips, own.thickness, frame);
  const palette = mouthPalette(g, meanColor(g, skin));

  /** Draws one plane, with one point per `pitch`² pixels. `terms` are its rows in the color matrix. */
  const drawn = (name: 'luma' | 'chroma', pitch: 1 | 2): Value => {
    const terms = name === 'luma' ? [0] : [1, 2];
    const raster = rasterOf(region, pitch);
    const shape = g.ints([-1, terms.length, raster.rows * raster.columns]);
    const at = faceCoordinates(g, axes, raster);
    const border = borderOf(g, raster, pitch);
    const warp = lipWarp(g, axes, at, motion, border);
    const center = g.weights([1, 2, raster.rows * raster.columns], unitPoints(raster, frame));
    const places = pointsOf(g, { ...inUnits(g, axes, frame), center }, warp.shiftU, warp.shiftV);
    const flat = (value: Value): Value => g.op('Reshape', [value, shape]);
    const warped = flat(sample(g, picture[name], places, raster.rows, raster.columns));
    const { color, cover } = mouthInterior(
      g,
      axes,
      { v: at.v, ...warp },
      motion.gap,
      paletteIn(g, palette, terms),
    );
    const painted = name === 'luma' ? m.sub(color, LATENT_SCALE) : color;
    const shown = exemplarLips(g, own, rungs, name, raster, at, warp, motion, skin, border);
    const around = m.mix(warped, shown.color, shown.weight);
    const showing = m.mul(cover, border, m.mix(g.scalar(1), rungs.beyond, rungs.weight));
    const result = m.mix(around, painted, showing);
    return g.op('Reshape', [result, g.ints([-1, terms.length, raster.rows, raster.columns])]);
  };
  return cellsOf(g, { luma: drawn('luma', 1), chroma: drawn('chroma', 2) });
}

/** The points of a raster in units in which the frame is [-1, 1]², x of all, then y of all. */
function unitPoints({ points }: Raster, { left, top, width, height }: Frame): Float32Array {
  const count = points.length / 2;
  return points.map((value, i) =>
    i < count ? ((value - left) / width) * 2 - 1 : ((value - top) / height) * 2 - 1,
  );
}

/** A sequence of latents, [96, frames, side, side], `side` cells wide. */
interface Film {
  readonly latents: Value;
  readonly side: number;
}

/**
 * Returns the sequence with the mouth redrawn in a region of every frame. Every cell outside keeps its value. `pose` has
 * one per frame.
 */
export function redrawRegion(
  g: GraphBuilder,
  { latents, side }: Film,
  faces: DrawnFaces,
  pose: MouthPose,
  region: Region,
): Value {
  const m = arithmetic(g);
  const { top, bottom, left, right } = region;
  const before = g.op('Slice', [latents, g.ints([top, left]), g.ints([bottom, right]), g.ints([2, 3])]);
  const cells = g.op('Transpose', [before], { perm: [1, 0, 2, 3] });
  const drawn = drawMouth(g, cells, faces, pose, region);
  const change = m.sub(g.op('Transpose', [drawn], { perm: [1, 0, 2, 3] }), before);
  const around = g.ints([0, 0, top, left, 0, 0, side - bottom, side - right]);
  return m.add(latents, g.op('Pad', [change, around]));
}

/** Width of the rim of the region, in pixels, in which the movement ends. */
const RIM = 2 * BLOCK;

/** 0 at the border of the raster, 1 from RIM on; [1, 1, points]. */
function borderOf(g: GraphBuilder, { rows, columns }: Raster, pitch: 1 | 2): Value {
  const weights = new Float32Array(rows * columns);
  for (let i = 0; i < weights.length; i++) {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const distance = Math.min(row, rows - 1 - row, column, columns - 1 - column) * pitch;
    weights[i] = Math.min(1, distance / RIM);
  }
  return g.weights([1, 1, weights.length], weights);
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

interface Reach {
  readonly full: number;
  readonly end: number;
}

/** Where corners that move apart take the picture with them fully, and where that ends, in units of u and of v. */
const CHEEKS: Reach = { full: 1.1, end: 2.4 };
const LIPS: Reach = { full: 0.5, end: 1.3 };
/** Thickness of the lower lip, which moves as one piece. */
const LIP = 0.35;
/** The part of the mouth's width over which the lips part. Towards the corners they stay together. */
const PARTING = 0.93;
const NOSE_BASE = 33;
/** How far below the chin its movement ends, in units of v. */
const BELOW_CHIN = 0.8;

function lipWarp(
  g: GraphBuilder,
  axes: FaceAxes,
  { u, v }: FaceCoordinates,
  lines: LipMotion,
  border: Value,
): LipWarp {
  const m = arithmetic(g);
  const near = (distance: Value, { full, end }: Reach): Value =>
    m.smooth(m.ramp(g.op('Abs', [distance]), end, full));
  const nearMouth = m.mul(near(u, CHEEKS), near(v, LIPS), border);
  const shiftU = m.mul(m.mul(u, lines.narrowing), nearMouth);
  const mouthU = m.add(u, shiftU);
  const profile = m.dome(mouthU, 1);
  const parting = m.dome(mouthU, PARTING);
  const seam = lineAt(g, lines.seam, mouthU, profile);
  const upperEdge = m.sub(seam, m.mul(lines.rise, parting));
  const lowerEdge = m.add(seam, m.mul(m.sub(lines.gap, lines.rise), parting));

  const nose = m.min(heightOf(g, axes.landmarks, NOSE_BASE), -0.4);
  const upperShift = m.mul(
    m.sub(lineAt(g, lines.upper, mouthU, profile), upperEdge),
    m.smooth(m.ramp(v, nose, upperEdge)),
  );
  // Below the lip the movement spreads sideways into a soft bell and becomes that of the chin.
  const atEdge = m.sub(lineAt(g, lines.lower, mouthU, profile), lowerEdge);
  const below = g.op('Relu', [m.sub(v, lowerEdge)]);
  const atCenter = m.sub(
    m.add(lines.lower.height, lines.lower.margin),
    m.add(lines.seam.height, m.sub(lines.gap, lines.rise)),
  );
  const bell = m.mul(atCenter, m.square(m.dome(mouthU, m.add(m.mul(below, 0.35), 1.15))));
  const chin = m.add(m.max(lines.chin, 1.2), lines.chinShift);
  const ofChin = m.mul(m.mul(lines.chinShift, -1), m.square(m.dome(u, 2.2)));
  const ofLip = m.mix(atEdge, bell, m.smooth(m.ramp(below, 0, 0.4)));
  const lowerShift = m.mul(
    m.mix(ofChin, ofLip, m.smooth(m.ramp(v, chin, m.add(lowerEdge, LIP)))),
    m.smooth(m.ramp(v, m.add(chin, BELOW_CHIN), chin)),
  );
  const isLower = g.op('Greater', [v, m.mul(m.add(upperEdge, lowerEdge), 0.5)]);
  const shiftV = m.mul(g.op('Where', [isLower, lowerShift, upperShift]), border);
  return { shiftU, shiftV, mouthU, upperEdge, lowerEdge, seam };
}

/** How far beyond the lips the exemplar shows fully, and where it ends, in units of v; and of u beside the mouth. */
const ABOVE: Reach = { full: 0.03, end: 0.24 };
const BELOW: Reach = { full: 0.08, end: 0.42 };
const BESIDE: Reach = { full: 1.06, end: 1.3 };

/**
 * The lips and what is between them as the clip's own mouth shows it at two openings near the target's, fitted to its
 * lines and to the light of the frame. Color [batch, channels, points], weight [batch, 1, points].
 */
function exemplarLips(
  g: GraphBuilder,
  own: Ladder,
  { rungs, second, weight }: Rungs,
  name: 'luma' | 'chroma',
  raster: Raster,
  { v }: FaceCoordinates,
  { mouthU, upperEdge, lowerEdge }: LipWarp,
  { fullness }: LipMotion,
  skin: Value,
  border: Value,
): { color: Value; weight: Value } {
  const m = arithmetic(g);
  const profile = m.dome(mouthU, 1);
  const opening = m.sub(lowerEdge, upperEdge);
  const above = m.div(g.op('Relu', [m.sub(upperEdge, v)]), fullness);
  const below = m.div(g.op('Relu', [m.sub(v, lowerEdge)]), fullness);
  const inside = m.clamp(m.div(m.sub(v, upperEdge), m.max(opening, 0.01)), 0, 1);
  const channels = name === 'luma' ? 1 : 2;
  const side = m.sub(
    m.clamp(m.div(below, m.add(own.thickness.lowerLip, CLEARANCE.below)), 0, 1),
    m.clamp(m.div(above, m.add(own.thickness.upperLip, CLEARANCE.above)), 0, 1),
  );
  const picture = inUnits(g, own.axes, { left: 0, top: 0, width: EXEMPLAR_SIDE, height: EXEMPLAR_SIDE });
  const [brightness, tones] = g.split(skin, [1, 2], 1);

  const colors = rungs.map(({ of }) => {
    const upper = lineAt(g, { height: of(own.upper.height), slant: of(own.upper.slant) }, mouthU, profile);
    const lower = lineAt(g, { height: of(own.lower.height), slant: of(own.lower.slant) }, mouthU, profile);
    const there = m.add(m.mix(upper, lower, inside), m.sub(below, above));
    const points = pointsOf(
      g,
      { center: of(picture.center), along: of(picture.along), down: of(picture.down) },
      mouthU,
      there,
    );
    const seen = sample(g, of(own[name]), points, raster.rows, raster.columns);
    const color = g.op('Reshape', [seen, g.ints([-1, channels, raster.rows * raster.columns])]);
    const [theirs, tints] = g.split(of(own.skin), [1, 2], 1);
    if (name === 'chroma') return m.add(color, meanColor(g, m.sub(tones, tints)));
    const light = relighting(g, m.add(brightness, LATENT_SCALE), m.add(theirs, LATENT_SCALE));
    const gain = m.add(m.mul(mouthU, light.across), m.mul(side, light.downward), light.level);
    return m.sub(m.mul(m.add(color, LATENT_SCALE), gain), LATENT_SCALE);
  });
  const [first, next] = colors as [Value, Value];
  const reach = m.mul(
    m.ramp(m.sub(above, own.thickness.upperLip), ABOVE.end, ABOVE.full),
    m.ramp(m.sub(below, own.thickness.lowerLip), BELOW.end, BELOW.full),
    m.ramp(g.op('Abs', [mouthU]), BESIDE.end, BESIDE.full),
  );
  return { color: m.mix(first, next, second), weight: m.mul(m.smooth(reach), weight, border) };
}
