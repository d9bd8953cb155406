import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { BLOCK, cellsOf, LATENT_SCALE, planesOf } from '../autoencoder';
import { exemplarLips } from './exemplar-lips';
import { type ExemplarInputs, ladder, rungsFor, shownThickness } from './exemplars';
import { faceAxes, faceCoordinates, type Raster, rasterOf, type Region, turnOf } from './face-axes';
import { boundsOf, changeWithin, refine } from './fields';
import { lipWarp } from './lip-warp';
import { lipMotion, measuredLips } from './lips';
import { motionBlur, smeared } from './motion-blur';
import { mouthInterior, mouthPalette, paletteIn } from './mouth-interior';
import { type MouthPose } from './mouth-pose';
import { meanColor, skinColors } from './relighting';
import { type Frame, inUnits, sample } from './sampling';

/**
 * Side of the squares of pixels for which the movement is computed. It is smooth, apart from where lips part, so that
 * pixels can be interpolated.
 */
const PITCH = 4;

/** Turns of the head, see turnOf, up to which the mouth is drawn, and from which on it stays as it was: 40° and 46°. */
const FACING = { surely: 0.8, not: 1.15 };

/** What a graph knows of the faces it draws. */
interface DrawnFaces extends ExemplarInputs {
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

  const raster = rasterOf(region, PITCH);
  const at = faceCoordinates(g, axes, raster);
  // Nothing moves at the border, nor where half of the mouth is turned away: a frame as it was looks better than that.
  const facing = m.ramp(g.op('Abs', [turnOf(g, axes)]), FACING.not, FACING.surely);
  const border = m.mul(borderOf(g, raster), facing);
  const shown = shownThickness(g, own, rungs, lips.thickness);
  const target = {
    upperLip: m.mul(shown.upperLip, motion.fullness),
    lowerLip: m.mul(shown.lowerLip, motion.fullness),
  };
  const warp = lipWarp(g, axes, at, motion, { source: lips, target }, border);
  const { mouthU, upperEdge, lowerEdge, seam } = warp;
  const units = inUnits(g, axes, frame);
  const across = m.mul(units.along, warp.shiftU);
  const move = (shift: Value): Value => m.add(across, m.mul(units.down, shift));
  const moves = [move(warp.upperShift), move(warp.lowerShift)] as const;
  const fromSeam = m.sub(at.v, m.mul(m.add(upperEdge, lowerEdge), 0.5));
  const lipsOfClip = exemplarLips(g, { ladder: own, rungs }, { axes, at, warp, motion, skin });
  const mouth = boundsOf(g, lipsOfClip.reach, raster);
  const blur = motionBlur(g, { luma: picture.luma, axes, frame }, own, rungs);
  const isBlurred = g.op('Greater', [g.op('ReduceMax', [m.max(blur.across, blur.down)], { keepdims: 0 }), 0]);
  const lacking = m.mix(g.scalar(1), rungs.beyond, rungs.weight);
  const isLacking = g.op('Greater', [g.op('ReduceMax', [lacking], { keepdims: 0 }), 0]);

  /** Draws one plane, with `scale`² points for each of the raster. `terms` are its rows in the color matrix. */
  const drawn = (name: 'luma' | 'chroma', scale: number): Value => {
    const terms = name === 'luma' ? [0] : [1, 2];
    const finer = rasterOf(region, PITCH / scale);
    const { rows, columns } = finer;
    const toPlane = refine(g, raster, scale);
    const [withUpper, withLower] = toPlane(2, ...moves);
    const [side] = toPlane(1, fromSeam);
    const moving = g.op('Where', [g.op('Greater', [side, 0]), withLower, withUpper]);
    const still = g.weights([1, 2, rows * columns], unitPoints(finer, frame));
    const moved = sample(g, picture[name], m.add(still, moving), name === 'luma' ? 'cubic' : 'linear');
    const plane = g.op('Reshape', [moved, g.ints([-1, terms.length, rows, columns])]);

    return changeWithin(g, plane, mouth, raster, scale, (around, shape) => {
      const toMouth = refine(g, raster, scale, mouth);
      const shown = lipsOfClip.drawn(name, toMouth);
      const [rim] = toMouth(1, border);
      const ofClip = m.mul(shown.weight, rim);
      const withLips = m.mix(around, shown.color, ofClip);
      const painted = (): Value => {
        const [v, u, upper, lower, middle] = toMouth(1, at.v, mouthU, upperEdge, lowerEdge, seam);
        const opening = { v, mouthU: u, upperEdge: upper, lowerEdge: lower, seam: middle };
        const { color, cover } = mouthInterior(g, axes, opening, motion.gap, paletteIn(g, palette, terms));
        const inside = name === 'luma' ? m.sub(color, LATENT_SCALE) : color;
        return m.mix(withLips, inside, m.mul(cover, rim, lacking));
      };
      const result = { dtype: 'float32' as const, dims: ['batch', terms.length, 'points'] };
      const drawn = g.choose(isLacking, result, painted, () => withLips);
      const asMoved = (): Value => {
        const pixels = scale / PITCH;
        const length = { across: m.mul(blur.across, pixels), down: m.mul(blur.down, pixels) };
        const soft = smeared(g, g.op('Reshape', [drawn, shape]), length);
        return m.mix(drawn, g.op('Reshape', [soft, g.ints([0, 0, -1])]), ofClip);
      };
      return g.choose(isBlurred, result, asMoved, () => drawn);
    });
  };
  return cellsOf(g, { luma: drawn('luma', PITCH), chroma: drawn('chroma', PITCH / 2) });
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
function borderOf(g: GraphBuilder, { rows, columns }: Raster): Value {
  const weights = new Float32Array(rows * columns);
  for (let i = 0; i < weights.length; i++) {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const distance = Math.min(row, rows - 1 - row, column, columns - 1 - column) * PITCH;
    weights[i] = Math.min(1, distance / RIM);
  }
  return g.weights([1, 1, weights.length], weights);
}
