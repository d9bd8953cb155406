import { landmark, LANDMARK_COUNT } from '@lipsync/engines';
import { type Patch, type Point } from '@lipsync/kernels';

/** Cells per side of the square in which a face always has its eyes and nose in one place. */
export const ALIGNED_SIDE = 64;
export const ALIGNED_CELLS = ALIGNED_SIDE ** 2;

/** Side of the square in distances of the eye centers. */
const REACH = 3.2;

/**
 * Where nose and eyes are (landmarks 27 to 47) in faces that look ahead, in distances of the eye centers from the middle
 * of eyes and mouth: means of the landmarks that five people have while they talk, mirrored.
 */
const FIRST = 27;
const PLACES: readonly Point[] = [
  ...[[0, -0.56] as const, [0, -0.37] as const, [0, -0.2] as const, [0, -0.03] as const],
  ...[[-0.19, 0.13] as const, [-0.1, 0.15] as const, [0, 0.16] as const, [0.1, 0.15] as const],
  ...[[0.19, 0.13] as const, [-0.68, -0.54] as const, [-0.58, -0.6] as const, [-0.43, -0.6] as const],
  ...[[-0.3, -0.53] as const, [-0.42, -0.5] as const, [-0.57, -0.49] as const, [0.3, -0.53] as const],
  ...[[0.43, -0.6] as const, [0.58, -0.6] as const, [0.68, -0.54] as const, [0.57, -0.49] as const],
  [0.42, -0.5] as const,
].map(([x, y]) => ({ x, y }));
const MIDDLE = meanOf(PLACES);

/**
 * The square around a face whose eyes and nose fit those places best, by least squares. It depends on nothing else,
 * because the landmarks of mouth and chin go astray where something covers them.
 */
export function alignedPatch(landmarks: Float32Array): Patch {
  const points = PLACES.map((_, i) => landmark(landmarks, FIRST + i));
  const middle = meanOf(points);
  let [along, across, spread] = [0, 0, 0];
  PLACES.forEach((place, i) => {
    const [x, y] = [place.x - MIDDLE.x, place.y - MIDDLE.y];
    const { x: u = 0, y: v = 0 } = points[i] ?? {};
    along += x * (u - middle.x) + y * (v - middle.y);
    across += x * (v - middle.y) - y * (u - middle.x);
    spread += x * x + y * y;
  });
  const [a, b] = [along / spread, across / spread];
  return {
    x: middle.x - a * MIDDLE.x + b * MIDDLE.y,
    y: middle.y - b * MIDDLE.x - a * MIDDLE.y,
    side: REACH * Math.hypot(a, b),
    angle: Math.atan2(b, a),
  };
}

function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce((all, { x, y }) => ({ x: all.x + x, y: all.y + y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** Landmarks in cells of the patch, x and y. */
export function alignedLandmarks(landmarks: Float32Array, patch: Patch): Float32Array {
  const aligned = new Float32Array(LANDMARK_COUNT * 2);
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const { x, y } = cellOf(landmark(landmarks, index), patch);
    aligned[index * 2] = x;
    aligned[index * 2 + 1] = y;
  }
  return aligned;
}

/** A point of the picture in cells of the patch. */
export function cellOf({ x, y }: Point, patch: Patch): Point {
  const cells = ALIGNED_SIDE / patch.side;
  const [right, down] = [x - patch.x, y - patch.y];
  const [cos, sin] = [Math.cos(patch.angle), Math.sin(patch.angle)];
  const middle = ALIGNED_SIDE / 2;
  return { x: middle + (right * cos + down * sin) * cells, y: middle + (down * cos - right * sin) * cells };
}

/** The cells whose centers are inside the polygon through these landmarks, 1 each. */
export function cellsWithin(points: readonly Point[]): Uint8Array {
  const cells = new Uint8Array(ALIGNED_CELLS);
  for (let row = 0; row < ALIGNED_SIDE; row++) {
    const y = row + 0.5;
    const crossings: number[] = [];
    points.forEach((a, i) => {
      const b = points[(i + 1) % points.length] ?? a;
      if (a.y > y !== b.y > y) crossings.push(a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y));
    });
    crossings.sort((a, b) => a - b);
    for (let i = 0; i + 1 < crossings.length; i += 2) {
      const [from = 0, to = 0] = [crossings[i], crossings[i + 1]].map((x) =>
        Math.min(ALIGNED_SIDE, Math.max(0, Math.ceil((x ?? 0) - 0.5))),
      );
      cells.fill(1, row * ALIGNED_SIDE + from, row * ALIGNED_SIDE + to);
    }
  }
  return cells;
}

/** The cells that lie within `by` columns and rows of one of these. A negative `by` keeps those that lie so deep inside. */
export function grown(cells: Uint8Array, by: number): Uint8Array {
  if (by < 0) return inverted(grown(inverted(cells), -by));
  const along = spread(cells, by, 1);
  return spread(along, by, ALIGNED_SIDE);
}

function inverted(cells: Uint8Array): Uint8Array {
  const out = new Uint8Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) out[cell] = 1 - (cells[cell] ?? 0);
  return out;
}

function spread(cells: Uint8Array, by: number, step: number): Uint8Array {
  const out = new Uint8Array(ALIGNED_CELLS);
  const across = step === 1 ? ALIGNED_SIDE : 1;
  for (let line = 0; line < ALIGNED_SIDE; line++) {
    let next = 0;
    for (let i = 0; i < ALIGNED_SIDE; i++) {
      if (cells[line * across + i * step] !== 1) continue;
      const end = Math.min(ALIGNED_SIDE, i + by + 1);
      for (let j = Math.max(next, i - by); j < end; j++) out[line * across + j * step] = 1;
      next = end;
    }
  }
  return out;
}

/** The connected parts of these cells, each as a list of its cells. */
export function connectedParts(cells: Uint8Array): number[][] {
  const parts: number[][] = [];
  const left = cells.slice();
  for (let start = 0; start < ALIGNED_CELLS; start++) {
    if (left[start] !== 1) continue;
    const part = [start];
    left[start] = 0;
    for (const cell of part) {
      for (const beside of [cell - 1, cell + 1, cell - ALIGNED_SIDE, cell + ALIGNED_SIDE]) {
        if (left[beside] !== 1) continue;
        left[beside] = 0;
        part.push(beside);
      }
    }
    parts.push(part);
  }
  return parts;
}
