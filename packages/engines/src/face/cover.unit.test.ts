import { type Point } from '@lipsync/kernels';
import { type Cover, COVER_SIDE, coverOf, coversMouth, coverTransform, grownCover, isCovered } from './cover';
import { landmarkCenter, LEFT_EYE, MOUTH, RIGHT_EYE } from './landmarks';

/** Landmarks with eye centers 100 apart and the mouth 110 below them, turned by `angle` around the point (300, 200). */
function face(angle = 0, scale = 1): Float32Array {
  const points = new Float32Array(136);
  const set = ([first, end]: readonly [number, number], x: number, y: number): void => {
    for (let point = first; point < end; point++) {
      points[2 * point] = 300 + scale * (Math.cos(angle) * x - Math.sin(angle) * y);
      points[2 * point + 1] = 200 + scale * (Math.sin(angle) * x + Math.cos(angle) * y);
    }
  };
  set(LEFT_EYE, -50, 0);
  set(RIGHT_EYE, 50, 0);
  set(MOUTH, 0, 110);
  return points;
}

function cellOf(landmarks: Float32Array, { x, y }: Point): Point {
  const { a, b, c, d, e, f } = coverTransform(landmarks);
  return { x: a * x + b * y + c, y: d * x + e * y + f };
}

test('eyes and mouth have the same cells wherever the face is, however it is turned and large it is', () => {
  for (const [angle, scale] of [
    [0, 1],
    [0.6, 1],
    [-1.2, 0.3],
    [3, 4],
  ]) {
    const landmarks = face(angle, scale);
    const [left, right, mouth] = [LEFT_EYE, RIGHT_EYE, MOUTH].map((part) =>
      cellOf(landmarks, landmarkCenter(landmarks, part)),
    );
    // 20 cells are an eye distance.
    expect(left?.x).toBeCloseTo(22, 3);
    expect(left?.y).toBeCloseTo(21, 3);
    expect(right?.x).toBeCloseTo(42, 3);
    expect(right?.y).toBeCloseTo(21, 3);
    expect(mouth?.x).toBeCloseTo(32, 3);
    expect(mouth?.y).toBeCloseTo(43, 3);
  }
});

test('the grid keeps its size while the face turns and its eyes come closer together', () => {
  const landmarks = face();
  for (const [eye, x] of [
    [LEFT_EYE, 280],
    [RIGHT_EYE, 320],
  ] as const)
    for (let point = eye[0]; point < eye[1]; point++) landmarks[2 * point] = x;
  expect(coverTransform(landmarks).a).toBeCloseTo(coverTransform(face()).a, 6);
});

const cells = (cover: Cover): [number, number][] =>
  Array.from({ length: COVER_SIDE ** 2 }, (_, cell): [number, number] => [
    cell % COVER_SIDE,
    Math.floor(cell / COVER_SIDE),
  ]).filter(([column, row]) => isCovered(cover, column, row));

test('a cover holds exactly its cells', () => {
  const wanted = (column: number, row: number): boolean => (column * 7 + row * 13) % 5 === 0;
  const cover = coverOf(wanted);
  for (let row = 0; row < COVER_SIDE; row++)
    for (let column = 0; column < COVER_SIDE; column++)
      expect(isCovered(cover, column, row)).toBe(wanted(column, row));
  expect([isCovered(cover, -1, 0), isCovered(cover, 0, COVER_SIDE)]).toEqual([false, false]);
});

test('a cover grows by one cell on all sides, within the grid', () => {
  const corner = coverOf((column, row) => column === COVER_SIDE - 1 && row === 0);
  expect(cells(grownCover(corner))).toEqual([
    [COVER_SIDE - 2, 0],
    [COVER_SIDE - 1, 0],
    [COVER_SIDE - 2, 1],
    [COVER_SIDE - 1, 1],
  ]);
});

test('a cover touches the mouth if one of its cells lies within the margin around it', () => {
  const at = (column: number, row: number): Cover => coverOf((x, y) => x === column && y === row);
  // All points of this mouth are in the corner of four cells, at (32, 43).
  expect(coversMouth(at(34, 43), face(0.3), 3)).toBe(true);
  expect(coversMouth(at(29, 40), face(0.3), 3)).toBe(true);
  expect(coversMouth(at(36, 43), face(0.3), 3)).toBe(false);
  expect(coversMouth(at(32, 38), face(0.3), 3)).toBe(false);
});
