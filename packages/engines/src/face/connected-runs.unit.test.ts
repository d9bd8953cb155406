import { connectedRuns, cutRuns } from './connected-runs';

const flags = (text: string) => (frame: number) => text[frame] === '1';

test.each([
  ['0110', '1111', [[1, 3]]],
  [
    '1111',
    '1101',
    [
      [0, 2],
      [2, 4],
    ],
  ],
  [
    '1011',
    '1110',
    [
      [0, 1],
      [2, 3],
      [3, 4],
    ],
  ],
  ['0000', '1111', []],
])('frames %s that continue %s', (present, continues, expected) => {
  const runs = connectedRuns(4, flags(present), flags(continues));
  expect(runs.map(({ start, end }) => [start, end])).toEqual(expected);
});

test('a long run is cut into the fewest pieces, without a short rest', () => {
  const lengths = (frames: number) =>
    cutRuns([{ start: 3, end: 3 + frames }], 10).map((run) => run.end - run.start);
  expect(lengths(10)).toEqual([10]);
  expect(lengths(11)).toEqual([5, 6]);
  expect(lengths(31)).toEqual([7, 8, 8, 8]);
});

test('pieces follow each other without a gap', () => {
  const pieces = cutRuns(
    [
      { start: 5, end: 52 },
      { start: 60, end: 61 },
    ],
    9,
  );
  expect(pieces[0]?.start).toBe(5);
  expect(pieces.slice(-2)).toEqual([
    { start: 44, end: 52 },
    { start: 60, end: 61 },
  ]);
  pieces.slice(1, -1).forEach((piece, i) => expect(piece.start).toBe(pieces[i]?.end));
});
