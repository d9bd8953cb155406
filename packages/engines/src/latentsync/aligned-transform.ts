import { type Affine, type Point } from '@lipsync/kernels';

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
export type FacePoints = readonly [Point, Point, Point];

/** Size in pixels of the aligned face that is stretched to a square crop of `side`: 210 × 280 for 256. */
export function alignedSize(side: number): { width: number; height: number } {
  const ratio = (side / RATIO_SIDE) * RATIO;
  return { width: TEMPLATE_WIDTH * ratio, height: TEMPLATE_HEIGHT * ratio };
}

/** The template's points in pixels of the aligned face; pixel 0 has its centre at 0. */
export function templatePoints(side: number): FacePoints {
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
export function similarity(from: FacePoints, to: FacePoints): Affine | null {
  const source = centred(from);
  const target = centred(to);
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
export function alignmentBias(from: FacePoints, to: FacePoints): Point {
  const source = centred(from);
  const target = centred(to);
  const { x: fromX = 0, y: fromY = 0 } = source.offsets[2] ?? {};
  const { x: toX = 0, y: toY = 0 } = target.offsets[2] ?? {};
  const fromSpread = Math.sqrt(source.squares / 5);
  const toSpread = Math.sqrt(target.squares / 5);
  return { x: toX / toSpread - fromX / fromSpread, y: toY / toSpread - fromY / fromSpread };
}

function centred(points: FacePoints): { centroid: Point; offsets: Point[]; squares: number } {
  const [p, q, r] = points;
  const centroid = { x: (p.x + q.x + r.x) / 3, y: (p.y + q.y + r.y) / 3 };
  const offsets = points.map(({ x, y }) => ({ x: x - centroid.x, y: y - centroid.y }));
  return { centroid, offsets, squares: offsets.reduce((sum, { x, y }) => sum + x * x + y * y, 0) };
}
