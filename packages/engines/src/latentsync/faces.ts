import { type Affine, type Point } from '@lipsync/kernels';
import { type FaceTrack, landmarksAt } from '../face/face-track';
import { landmarkCenter, SMALLEST_FACE } from '../face/landmarks';
import { faceRuns, smoothRun } from '../face/smoothing';

/** Values per frame: a, b, c, d, e, f of the transform. */
const TRANSFORM_VALUES = 6;

const LEFT_BROW = [17, 22] as const;
const RIGHT_BROW = [22, 27] as const;
/**
 * The whole nose, which the first release of LatentSync averages of 68 landmarks, as for the alignment of its training
 * data.
 */
const NOSE = [27, 36] as const;

/**
 * Width of the smoothing weights, in seconds. Position and rotation of the crop may follow a nod; its size must not
 * change with the brows.
 */
const PLACE_SIGMA = 0.08;
const SIZE_SIGMA = 0.24;

/**
 * Columns of the table to smooth: the middle of the crop in the frame, cosine and sine of the rotation, log of the
 * scale.
 */
const COLUMNS = 5;

/**
 * LatentSync's aligned crop of every frame of a track: the transform from the frame to a square crop of `side` pixels,
 * a … f per frame. Coordinates in both count from the outer edge of the first pixel, whose center is at 0.5. Rows of
 * frames without a face in the picture are zero.
 *
 * The published code aligns every frame separately, which preserves the jitter of the landmarks, and smooths only its
 * bias, over past frames. Here position, rotation and size are smoothed within each shot, in both directions.
 */
export function alignedFaces(track: FaceTrack, side: number): Float32Array {
  const { frames, cuts } = track;
  const size = alignedSize(side);
  const template = templatePoints(side);
  const present = new Uint8Array(frames);
  const table = new Float32Array(frames * COLUMNS);
  for (let frame = 0; frame < frames; frame++) {
    if (track.found[frame] !== 1) continue;
    const points = facePoints(landmarksAt(track, frame));
    const transform = similarity(points, template);
    if (transform === null) continue;
    table.set(placeOf(transform, alignmentBias(points, template), size), frame * COLUMNS);
    present[frame] = 1;
  }
  for (const run of faceRuns(present, cuts)) {
    smoothRun(table, COLUMNS, run, { first: 0, last: 4 }, PLACE_SIGMA, track);
    smoothRun(table, COLUMNS, run, { first: 4, last: 5 }, SIZE_SIGMA, track);
  }
  const transforms = new Float32Array(frames * TRANSFORM_VALUES);
  for (let frame = 0; frame < frames; frame++) {
    const place = table.subarray(frame * COLUMNS, (frame + 1) * COLUMNS);
    if (present[frame] === 1 && isVisible(place, size, track)) {
      transforms.set(cropTransform(place, size, side), frame * TRANSFORM_VALUES);
    }
  }
  return transforms;
}

/** The transform of one frame in a table of them; null if it is zero. */
export function transformAt(transforms: Float32Array, frame: number): Affine | null {
  const at = frame * TRANSFORM_VALUES;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = transforms.subarray(at, at + TRANSFORM_VALUES);
  return a * e - b * d === 0 ? null : { a, b, c, d, e, f };
}

/**
 * Pixels of the picture per pixel of the crop for one frame in a table of transforms, in the direction with more of
 * them; 0 if the row is zero.
 */
export function enlargementAt(transforms: Float32Array, frame: number): number {
  const at = frame * TRANSFORM_VALUES;
  const across = Math.hypot(transforms[at] ?? 0, transforms[at + 1] ?? 0);
  const down = Math.hypot(transforms[at + 3] ?? 0, transforms[at + 4] ?? 0);
  const least = Math.min(across, down);
  return least === 0 ? 0 : 1 / least;
}

function facePoints(landmarks: Float32Array): FacePoints {
  // The template counts from the center of the first pixel, the track from its edge.
  const centerOf = (part: readonly [number, number]): Point => {
    const { x, y } = landmarkCenter(landmarks, part);
    return { x: x - 0.5, y: y - 0.5 };
  };
  return [centerOf(LEFT_BROW), centerOf(RIGHT_BROW), centerOf(NOSE)];
}

/** The position of the middle of the aligned face in the frame, its rotation and its scale. */
function placeOf(
  transform: Affine,
  bias: Point,
  { width, height }: { width: number; height: number },
): number[] {
  const { a, d } = transform;
  const scale = Math.hypot(a, d);
  const cos = a / scale;
  const sin = d / scale;
  const x = (width / 2 - 0.5 - transform.c - bias.x) / scale;
  const y = (height / 2 - 0.5 - transform.f - bias.y) / scale;
  return [cos * x + sin * y + 0.5, cos * y - sin * x + 0.5, cos, sin, Math.log(scale)];
}

function isVisible(
  place: Float32Array,
  size: { width: number; height: number },
  picture: { width: number; height: number },
): boolean {
  const [x = 0, y = 0, , , logScale = 0] = place;
  const scale = Math.exp(logScale);
  const reach = size.height / scale / 2;
  const inside = x > -reach && x < picture.width + reach && y > -reach && y < picture.height + reach;
  return inside && size.width / scale >= SMALLEST_FACE;
}

/** Maps the frame to the aligned face, and that to the square that it is stretched to. */
function cropTransform(place: Float32Array, size: { width: number; height: number }, side: number): number[] {
  const [x = 0, y = 0, rawCos = 1, rawSin = 0, logScale = 0] = place;
  const length = Math.hypot(rawCos, rawSin);
  const across = (Math.exp(logScale) * side) / size.width / length;
  const down = (Math.exp(logScale) * side) / size.height / length;
  const [a, b] = [rawCos * across, -rawSin * across];
  const [d, e] = [rawSin * down, rawCos * down];
  return [a, b, side / 2 - a * x - b * y, d, e, side / 2 - d * x - e * y];
}

/**
 * LatentSync's face alignment (https://github.com/bytedance/LatentSync) maps the middles of both brows and of the nose
 * to these points, given here as fractions of the aligned face, which is three wide and four high.
 */
const TEMPLATE_WIDTH = 75;
const TEMPLATE_HEIGHT = 100;
const TEMPLATE: FacePoints = [
  { x: 17, y: 20 },
  { x: 58, y: 20 },
  { x: 37.5, y: 40 },
];

/** Pixels of the aligned face per unit of the template, for a crop of this side. */
const RATIO = 2.8;
const RATIO_SIDE = 256;

/** Middle of the left brow (the viewer's left), of the right one, and of the nose. */
type FacePoints = readonly [Point, Point, Point];

/** Size in pixels of the aligned face that is stretched to a square crop of `side`: 210 × 280 for 256. */
export function alignedSize(side: number): { width: number; height: number } {
  const ratio = (side / RATIO_SIDE) * RATIO;
  return { width: TEMPLATE_WIDTH * ratio, height: TEMPLATE_HEIGHT * ratio };
}

/** The template's points in pixels of the aligned face; pixel 0 has its center at 0. */
function templatePoints(side: number): FacePoints {
  const ratio = (side / RATIO_SIDE) * RATIO;
  const [left, right, nose] = TEMPLATE;
  const scaled = ({ x, y }: Point): Point => ({ x: x * ratio, y: y * ratio });
  return [scaled(left), scaled(right), scaled(nose)];
}

/**
 * The rotation, scale and shift from `from` to `to` as LatentSync computes them: the least-squares rotation about the
 * centroids, and the ratio of the spreads as the scale (which is not the least-squares scale). Null if the points of
 * either side coincide.
 */
function similarity(from: FacePoints, to: FacePoints): Affine | null {
  const source = centered(from);
  const target = centered(to);
  const scale = Math.sqrt(target.squares / source.squares);
  let cross = 0;
  let dot = 0;
  source.offsets.forEach(({ x, y }, i) => {
    const { x: tx = 0, y: ty = 0 } = target.offsets[i] ?? {};
    cross += x * ty - y * tx;
    dot += x * tx + y * ty;
  });
  const angle = Math.atan2(cross, dot);
  const cos = scale * Math.cos(angle);
  const sin = scale * Math.sin(angle);
  const { x, y } = source.centroid;
  const c = target.centroid.x - cos * x + sin * y;
  const f = target.centroid.y - sin * x - cos * y;
  return scale > 0 && Number.isFinite(scale) ? { a: cos, b: -sin, c, d: sin, e: cos, f } : null;
}

/**
 * The shift that LatentSync adds to the aligned face, at most some tenths of a pixel: the distance between the noses of
 * `from` and `to`, both measured in standard deviations of their points.
 */
function alignmentBias(from: FacePoints, to: FacePoints): Point {
  const source = centered(from);
  const target = centered(to);
  const { x: fromX = 0, y: fromY = 0 } = source.offsets[2] ?? {};
  const { x: toX = 0, y: toY = 0 } = target.offsets[2] ?? {};
  const fromSpread = Math.sqrt(source.squares / 5);
  const toSpread = Math.sqrt(target.squares / 5);
  return { x: toX / toSpread - fromX / fromSpread, y: toY / toSpread - fromY / fromSpread };
}

function centered(points: FacePoints): { centroid: Point; offsets: Point[]; squares: number } {
  const [p, q, r] = points;
  const centroid = { x: (p.x + q.x + r.x) / 3, y: (p.y + q.y + r.y) / 3 };
  const offsets = points.map(({ x, y }) => ({ x: x - centroid.x, y: y - centroid.y }));
  return { centroid, offsets, squares: offsets.reduce((sum, { x, y }) => sum + x * x + y * y, 0) };
}
