import { ALIGNED_CELLS, ALIGNED_SIDE } from './aligned-face';
import { type CellBits, coversInTime, fromBits, type JudgedLook, toBits } from './covers-in-time';

const EVERY = 0.08;

/** The bits of a box of ten by ten cells whose left column is this, and of so many cells around it. */
function boxAt(left: number, around = 0): CellBits {
  const cells = new Uint8Array(ALIGNED_CELLS);
  for (let row = 40 - around; row < 50 + around; row++)
    cells.fill(1, row * ALIGNED_SIDE + left - around, row * ALIGNED_SIDE + left + 10 + around);
  return toBits(cells);
}

const NONE = toBits(new Uint8Array(ALIGNED_CELLS));

/** Looks as letters: `C` shows a cover, `S` one that is sure, `p` could show it, `.` shows nothing. */
const looksOf = (letters: string, leftAt: (i: number) => number = () => 20): JudgedLook[] =>
  Array.from(letters, (letter, i) => ({
    seconds: i * EVERY,
    cells: letter === 'C' || letter === 'S' ? boxAt(leftAt(i), 2) : null,
    sure: letter === 'S',
    possible: letter === '.' ? NONE : boxAt(leftAt(i)),
  }));

const shown = (looks: readonly JudgedLook[]): string =>
  coversInTime(looks)
    .map((cover) => (cover === null ? '.' : '#'))
    .join('');

describe('coversInTime', () => {
  test('what is seen for a moment only is none, unless it is sure', () => {
    expect(shown(looksOf('..CC..'))).toBe('......');
    expect(shown(looksOf('..CCC.'))).toBe('..###.');
    expect(shown(looksOf('..S...'))).toBe('..#...');
  });

  test('a cover goes on, later and earlier, in looks that could show it', () => {
    expect(shown(looksOf('..ppCCCpp.p'))).toBe('..#######..');
  });

  test('it goes on for a second and no longer', () => {
    expect(shown(looksOf(`S${'p'.repeat(20)}`))).toBe(`${'#'.repeat(13)}${'.'.repeat(8)}`);
  });

  test('it goes on for a second and no longer where something else covers the face all the time', () => {
    const both = boxAt(20).map((byte, i) => byte | (boxAt(45)[i] ?? 0));
    const looks = Array.from({ length: 41 }, (_, i) => ({
      ...{ seconds: i * EVERY, sure: true, possible: both },
      cells: i === 20 ? boxAt(20, 2).map((byte, at) => byte | (boxAt(45, 2)[at] ?? 0)) : boxAt(45, 2),
    }));
    const [there, other] = [20, 45].map((left) => 45 * ALIGNED_SIDE + left + 5);
    const covers = coversInTime(looks).map((cover) => fromBits(cover ?? NONE));
    expect(covers.map((cells) => cells[there ?? 0]).join('')).toBe(
      `${'0'.repeat(8)}${'1'.repeat(25)}${'0'.repeat(8)}`,
    );
    expect(covers.every((cells) => cells[other ?? 0] === 1)).toBe(true);
  });

  test('it goes on where it moves a little, not where something else could be one', () => {
    expect(shown(looksOf('CCCppp', (i) => 20 + i))).toBe('######');
    expect(shown(looksOf('CCCppp', (i) => (i < 3 ? 20 : 45)))).toBe('###...');
  });

  test('it does not go on where the face was lost in between', () => {
    const looks = looksOf('CCCppp').map((look, i) =>
      i < 3 ? look : { ...look, seconds: look.seconds + 0.5 },
    );
    expect(shown(looks)).toBe('###...');
  });

  test('where it goes on it covers the cells that could show it, and those around them', () => {
    const cells = fromBits(coversInTime(looksOf('CCCp', (i) => (i < 3 ? 20 : 22)))[3] ?? NONE);
    const row = cells.subarray(45 * ALIGNED_SIDE, 46 * ALIGNED_SIDE);
    expect([row.indexOf(1), row.lastIndexOf(1)]).toEqual([20, 33]);
  });
});
