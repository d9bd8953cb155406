import { highsyncRuns } from './highsync-runs';

const PICTURE = { width: 640, height: 480 };

/** Ten frames: two shots of four and three frames, a gap of one frame, and a third shot of two. */
const shots = Int32Array.of(0, 0, 0, 0, 1, 1, 1, -1, 2, 2);

/** Faces that stand still, except for the x offsets in `moved`. */
function boxesOf(moved: Readonly<Record<number, number>> = {}): Float32Array {
  return Float32Array.from({ length: 40 }, (_, i) => {
    const x = moved[i >> 2] ?? 0;
    return [100 + x, 100, 200 + x, 240][i % 4] ?? 0;
  });
}

const runs = (sources: readonly number[], boxes = boxesOf()): number[][] =>
  highsyncRuns(sources, { shots, boxes }, PICTURE).map(({ start, end }) => [start, end]);

test('a run ends with the shot and where the face is lost', () => {
  expect(runs([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual([
    [0, 4],
    [4, 7],
    [8, 10],
  ]);
});

test('a bounce reverses within one run, and a held frame continues it', () => {
  expect(runs([0, 1, 2, 3, 2, 1, 0, 1])).toEqual([[0, 8]]);
  expect(runs([2, 3, 3, 3])).toEqual([[0, 4]]);
});

test('a restart continues the run if the face is where it was, and otherwise begins a new one', () => {
  expect(runs([0, 1, 2, 3, 0, 1])).toEqual([[0, 6]]);
  expect(runs([0, 1, 2, 3, 0, 1], boxesOf({ 1: 30, 2: 60, 3: 90 }))).toEqual([
    [0, 4],
    [4, 6],
  ]);
});

test('skipped frames are a jump only if the face has moved far meanwhile', () => {
  expect(runs([0, 2, 3], boxesOf({ 2: 60, 3: 60 }))).toEqual([[0, 3]]);
  expect(runs([0, 3], boxesOf({ 3: 70 }))).toEqual([
    [0, 1],
    [1, 2],
  ]);
});

test('a jump is measured across in widths of the picture, and down in its heights', () => {
  const lowered = (by: number) => boxesOf().map((edge, i) => (i >= 12 && i % 2 === 1 ? edge + by : edge));
  expect(runs([0, 3], lowered(47))).toEqual([[0, 2]]);
  expect(runs([0, 3], lowered(49))).toEqual([
    [0, 1],
    [1, 2],
  ]);
});

test('skipping the frames without a face still ends the run', () => {
  expect(runs([5, 6, 8, 9])).toEqual([
    [0, 2],
    [2, 4],
  ]);
});
