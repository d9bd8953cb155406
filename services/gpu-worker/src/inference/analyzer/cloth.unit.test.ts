import { ALIGNED_CELLS, ALIGNED_SIDE, grown } from './aligned-face';
import { clothCells } from './cloth';

/** Lightness and both color differences. */
type Color = readonly [number, number, number];
const SKIN: Color = [150, -15, 24];
const LIPS: Color = [110, -12, 38];
const BEARD: Color = [90, -8, 16];
const CLOTH: Color = [128, -12, 32];

/** Where things are, in cells. */
interface Box {
  readonly columns: readonly [first: number, end: number];
  readonly rows: readonly [first: number, end: number];
}
const FACE: Box = { columns: [14, 50], rows: [24, 58] };
const MOUTH: Box = { columns: [25, 40], rows: [42, 48] };
const EVERYWHERE: Box = { columns: [0, ALIGNED_SIDE], rows: [0, ALIGNED_SIDE] };
const below = (row: number): Box => ({ ...EVERYWHERE, rows: [row, ALIGNED_SIDE] });

describe('clothCells', () => {
  test('cloth that is pulled up over the mouth is told where it is, in a color near those of skin and lips', () => {
    const cells = cloth((at) => (isIn(below(38), at) ? folded(CLOTH, at) : face(at)));
    expect(cells[cellAt(32, 45)]).toBe(1);
    expect(cells[cellAt(16, 39)]).toBe(1);
    expect(cells[cellAt(32, 60)]).toBe(1);
    expect(cells[cellAt(32, 36)]).toBe(0);
  });

  test('a face has none, whatever its mouth does and however it is lit', () => {
    expect(cloth(face)).not.toContain(1);
    const open: Box = { ...MOUTH, rows: [38, 54] };
    expect(cloth((at) => (isIn(open, at) ? [40, 0, 10] : face(at)))).not.toContain(1);
    const inShade = (at: number): Color => {
      const [y, u, v] = face(at);
      return at % ALIGNED_SIDE > 32 ? [0.6 * y, 0.6 * u, 0.6 * v] : [y, u, v];
    };
    expect(cloth(inShade)).not.toContain(1);
  });

  test('a beard that the face always has is none', () => {
    const bearded = (at: number): Color => (isIn(below(40), at) && !isIn(MOUTH, at) ? BEARD : face(at));
    const raised = (at: number): Color => bearded(at + 3 * ALIGNED_SIDE);
    expect(cloth(raised, bearded)).not.toContain(1);
    expect(cloth(bearded)).toContain(1);
  });

  test('what does not cover all of the chin is none', () => {
    const half: Box = { columns: [30, ALIGNED_SIDE], rows: [38, ALIGNED_SIDE] };
    expect(cloth((at) => (isIn(half, at) ? CLOTH : face(at)))).not.toContain(1);
    expect(cloth((at) => (isIn(below(54), at) ? CLOTH : face(at)))).not.toContain(1);
  });
});

const cellAt = (column: number, row: number): number => row * ALIGNED_SIDE + column;

function isIn({ columns, rows }: Box, cell: number): boolean {
  const [column, row] = [cell % ALIGNED_SIDE, Math.floor(cell / ALIGNED_SIDE)];
  return column >= columns[0] && column < columns[1] && row >= rows[0] && row < rows[1];
}

const face = (cell: number): Color => (isIn(MOUTH, cell) ? LIPS : SKIN);

/** In the light and shade of its folds. */
function folded([y, u, v]: Color, cell: number): Color {
  return [y * (1 + 0.12 * Math.sin(cell / ALIGNED_SIDE)), u, v];
}

/** What is found in a look before a face that usually has such colors. */
function cloth(look: (cell: number) => Color, usual = face): Uint8Array {
  const colorsOf = (colorAt: (cell: number) => Color): Float32Array =>
    Float32Array.from(Array.from({ length: ALIGNED_CELLS }, (_, cell) => colorAt(cell)).flat());
  const cellsIn = (box: Box): Uint8Array =>
    Uint8Array.from({ length: ALIGNED_CELLS }, (_, cell) => (isIn(box, cell) ? 1 : 0));
  const all = cellsIn(FACE);
  return clothCells(colorsOf(look), {
    ...{ colors: colorsOf(usual), face: all, around: grown(all, 4), mouth: cellsIn(MOUTH) },
    inside: [...all.keys()].filter((cell) => all[cell] === 1),
  });
}
