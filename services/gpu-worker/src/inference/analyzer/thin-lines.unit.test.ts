import { ALIGNED_CELLS, ALIGNED_SIDE } from './aligned-face';
import { darkLines, thinLines, usualLines } from './thin-lines';

const EVERYWHERE = new Uint8Array(ALIGNED_CELLS).fill(1);
const STILL = { right: 0, down: 0 };

/** A place in cells. */
type Place = readonly [column: number, row: number];

interface Line {
  readonly from: Place;
  readonly to: Place;
  /** Its lightness, where skin has 1. */
  readonly shade: number;
}

const STRAND: Line = { from: [20, 15], to: [34, 45], shade: 0.5 };
const FOLD: Line = { from: [40, 20], to: [44, 28], shade: 0.8 };

describe('thinLines', () => {
  test.each([
    ['down', [30, 15], [30, 45]],
    ['down to the right', [15, 15], [40, 40]],
    ['down to the left', [45, 15], [20, 40]],
  ] as const)('a strand that hangs %s is told where it is', (_, from, to) => {
    const { cells } = found({ from, to, shade: 0.5 });
    expect(shownAt(cells, from, to)).toBe(true);
    expect(cells[at(10, 50)]).toBe(0);
    expect(cells.reduce((sum, cell) => sum + cell, 0)).toBeLessThan(ALIGNED_CELLS / 16);
  });

  test('what most looks show belongs to the face, in its place and as far around it as it moves', () => {
    const seen = [STRAND, STRAND, STRAND, STRAND, STRAND, null, null].map((line) => linesOf(line));
    const usual = usualLines(seen);
    expect(thinLines(linesOf(STRAND), usual, EVERYWHERE, STILL).cells).not.toContain(1);
    const beside: Line = { ...STRAND, from: [22, 15], to: [36, 45] };
    expect(thinLines(linesOf(beside), usual, EVERYWHERE, STILL).cells).toContain(1);
    expect(thinLines(linesOf(beside), usual, EVERYWHERE, { right: 3, down: 0 }).cells).not.toContain(1);
  });

  test('a fold, which is short and not as dark, is none', () => {
    expect(found(FOLD).cells).not.toContain(1);
    expect(found({ ...STRAND, shade: 0.85 }).cells).not.toContain(1);
    expect(found({ ...STRAND, to: [22, 20] }).cells).not.toContain(1);
  });

  test('what runs across the face, as lips and the shadow below them do, is none', () => {
    expect(found({ from: [15, 30], to: [45, 32], shade: 0.5 }).cells).not.toContain(1);
  });

  test('a line that only hangs beside the face is none', () => {
    const inner = EVERYWHERE.map((_, cell) => (cell % ALIGNED_SIDE > 40 ? 1 : 0));
    const { cells, possible } = thinLines(linesOf(STRAND), linesOf(null), inner, STILL);
    expect([cells.includes(1), possible.includes(1)]).toEqual([false, false]);
  });

  test('the edge of a shadow is no line', () => {
    const rgb = skin();
    for (let cell = 0; cell < ALIGNED_CELLS; cell++)
      if (cell % ALIGNED_SIDE > 30) rgb.fill(60, cell * 3, cell * 3 + 3);
    const { possible } = thinLines(darkLines(rgb, 130, EVERYWHERE), linesOf(null), EVERYWHERE, STILL);
    expect(possible).not.toContain(1);
  });
});

const at = (column: number, row: number): number => row * ALIGNED_SIDE + column;

/** Whether the middle of a line and the cells near its ends are among these. */
function shownAt(cells: Uint8Array, from: Place, to: Place): boolean {
  return [0.2, 0.5, 0.8].every((part) => {
    const [column, row] = [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])];
    return cells[at(Math.round(column), Math.round(row))] === 1;
  });
}

const found = (line: Line) => thinLines(linesOf(line), linesOf(null), EVERYWHERE, STILL);

const skin = (): Uint8Array => new Uint8Array(ALIGNED_CELLS * 3).fill(130);

/** The dark lines of skin with a line of two cells' width before it. */
function linesOf(line: Line | null): Float32Array {
  const rgb = skin();
  for (let cell = 0; line && cell < ALIGNED_CELLS; cell++) {
    const [x, y] = [(cell % ALIGNED_SIDE) - line.from[0], Math.floor(cell / ALIGNED_SIDE) - line.from[1]];
    const [dx, dy] = [line.to[0] - line.from[0], line.to[1] - line.from[1]];
    const part = Math.min(1, Math.max(0, (x * dx + y * dy) / (dx * dx + dy * dy)));
    if (Math.hypot(x - part * dx, y - part * dy) < 1) rgb.fill(130 * line.shade, cell * 3, cell * 3 + 3);
  }
  return darkLines(rgb, 130, EVERYWHERE);
}
