import { type Patch, type Point } from '@lipsync/kernels';
import { ALIGNED_CELLS, ALIGNED_SIDE, cellOf } from './aligned-face';
import { type Hand } from './hand-finder';

/*
 * A hand as a picture shows it, drawn around its joints: fingers, palm and the arm behind it. Lengths are in lengths of
 * its palm, from the wrist to the root of the middle finger.
 */

/** Lines from joint to joint, and how far to both sides of them the hand reaches. */
const FINGERS = [
  [1, 2, 3, 4],
  [5, 6, 7, 8],
  [9, 10, 11, 12],
  [13, 14, 15, 16],
  [17, 18, 19, 20],
];
const FINGER = 0.17;
const PALM = [
  [0, 1, 5, 9, 13, 17, 0],
  [5, 0, 9],
  [0, 13],
];
const HALF_PALM = 0.25;

/** A part of the arm goes on from the wrist. All of it would cover faces above a hand that is seen upside down. */
const ARM = 0.7;
const HALF_ARM = 0.35;

const WRIST = 0;
const MIDDLE_FINGER = 9;
const INDEX_FINGER = 5;
const LITTLE_FINGER = 17;

/** Width of a palm at the roots of the fingers. One that points at the camera looks shorter than it is. */
const PALM_WIDTH = 0.75;

/** The cells of a face's square that these hands cover, 1 each. */
export function handCells(hands: readonly Hand[], patch: Patch): Uint8Array {
  const cells = new Uint8Array(ALIGNED_CELLS);
  for (const hand of hands) {
    const joints = hand.map((joint) => cellOf(joint, patch));
    const at = (index: number): Point => joints[index] ?? { x: NaN, y: NaN };
    const wrist = at(WRIST);
    const middle = at(MIDDLE_FINGER);
    const palm = Math.max(apart(wrist, middle), apart(at(INDEX_FINGER), at(LITTLE_FINGER)) / PALM_WIDTH);
    const back = ARM / Math.max(0.5, apart(wrist, middle) / palm);
    const elbow = { x: wrist.x + back * (wrist.x - middle.x), y: wrist.y + back * (wrist.y - middle.y) };
    const coverAlong = (line: readonly number[], reach: number): void =>
      line.slice(1).forEach((to, i) => cover(cells, at(line[i] ?? to), at(to), reach));
    for (const line of FINGERS) coverAlong(line, FINGER * palm);
    for (const line of PALM) coverAlong(line, HALF_PALM * palm);
    cover(cells, wrist, elbow, HALF_ARM * palm);
  }
  return cells;
}

/** Covers the cells whose centers are within `reach` of the line between two points. */
function cover(cells: Uint8Array, from: Point, to: Point, reach: number): void {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.max(dx * dx + dy * dy, 1e-9);
  const first = (a: number, b: number): number => Math.max(0, Math.floor(Math.min(a, b) - reach));
  const end = (a: number, b: number): number => Math.min(ALIGNED_SIDE, Math.ceil(Math.max(a, b) + reach));
  for (let row = first(from.y, to.y); row < end(from.y, to.y); row++)
    for (let column = first(from.x, to.x); column < end(from.x, to.x); column++) {
      const [x, y] = [column + 0.5 - from.x, row + 0.5 - from.y];
      const part = Math.min(1, Math.max(0, (x * dx + y * dy) / length));
      if (Math.hypot(x - part * dx, y - part * dy) < reach) cells[row * ALIGNED_SIDE + column] = 1;
    }
}

const apart = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);
