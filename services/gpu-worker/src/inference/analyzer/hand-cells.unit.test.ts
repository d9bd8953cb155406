import { type Patch, type Point } from '@lipsync/kernels';
import { ALIGNED_SIDE } from './aligned-face';
import { handCells } from './hand-cells';

/** A pixel is a cell, but the picture's origin is at (100, 50) of the cells. */
const PATCH: Patch = { x: 132, y: 82, side: ALIGNED_SIDE, angle: 0 };

/** An upright hand whose palm is ten cells long, the wrist at this place: thumb to the left, fingers straight up. */
function handAt(x: number, y: number): Point[] {
  const finger = (root: number, joints: readonly number[]): Point[] =>
    joints.map((up) => ({ x: 100 + x + root, y: 50 + y - up }));
  return [
    { x: 100 + x, y: 50 + y },
    ...finger(-5, [3, 5, 7, 9]),
    ...[-3.5, -1, 1.5, 4].flatMap((root) => finger(root, [10, 14, 16, 18])),
  ];
}

const isCovered = (cells: Uint8Array, column: number, row: number): boolean =>
  cells[row * ALIGNED_SIDE + column] === 1;

describe('handCells', () => {
  test('covers fingers, palm and the beginning of the arm, and nothing beside them', () => {
    const cells = handCells([handAt(30, 40)], PATCH);
    for (const [column, row] of [
      [30, 35],
      [28, 22],
      [34, 24],
      [25, 33],
      [30, 45],
    ] as const)
      expect([column, row, isCovered(cells, column, row)]).toEqual([column, row, true]);
    for (const [column, row] of [
      [30, 16],
      [18, 30],
      [42, 30],
      [30, 58],
      [22, 45],
    ] as const)
      expect([column, row, isCovered(cells, column, row)]).toEqual([column, row, false]);
  });

  test('a hand beyond the square covers nothing in it, and one at its border what is inside', () => {
    expect(handCells([handAt(30, 120)], PATCH)).not.toContain(1);
    const cells = handCells([handAt(2, 40)], PATCH);
    expect(isCovered(cells, 0, 35)).toBe(true);
    expect(isCovered(cells, 60, 35)).toBe(false);
  });
});
