import { connectedRuns } from '@lipsync/engines';
import { ALIGNED_CELLS, connectedParts, grown } from './aligned-face';
import { WIDENED } from './uncommon-cells';

/** What is not sure is seen for longer than this. What appears for a moment is a wrong landmark or a flash. */
export const SHORTEST_COVER = 0.1;

/** So many seconds away from a look that shows a cover, a look that could show it does. */
export const COVER_GOES_ON = 1;

/** A cover that goes on in the next look moves by no more cells, and stays by this part in its place, one cell deeper. */
const MOVES = 3;
const STAYS = 0.5;
const EDGE = 2;

/** The fewest cells in which a cover goes on. */
const FEWEST = 15;

/** Two looks farther apart than this are no neighbors: the face was lost between them. */
export const NEIGHBORS = 0.3;

/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/** A bit per aligned cell. A shot has thousands of looks. */
export type CellBits = Uint8Array;

export function toBits(cells: Uint8Array): CellBits {
  const bits = new Uint8Array(ALIGNED_CELLS / 8);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++)
    if (cells[cell] === 1) bits[cell >> 3] = (bits[cell >> 3] ?? 0) | (1 << (cell & 7));
  return bits;
}

export function fromBits(bits: CellBits): Uint8Array {
  const cells = new Uint8Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) cells[cell] = ((bits[cell >> 3] ?? 0) >> (cell & 7)) & 1;
  return cells;
}

/** The cells of either; null if neither has any. */
export function united(a: CellBits | null, b: CellBits | null): CellBits | null {
  const all = a && b ? a.map((byte, at) => byte | (b[at] ?? 0)) : (a ?? b);
  return all?.some((byte) => byte !== 0) ? all : null;
}

/** Which part of these cells the others have, 0 to 1. */
export function partOf(cells: CellBits, others: CellBits | null): number {
  if (others === null) return 0;
  const [own, other] = [fromBits(cells), fromBits(others)];
  const all = own.reduce((sum, cell) => sum + cell, 0);
  return own.reduce((sum, cell, i) => sum + (cell & (other[i] ?? 0)), 0) / Math.max(1, all);
}

/** What one look shows by itself. */
export interface JudgedLook {
  readonly seconds: number;
  /** Cells that are covered; null if none is. */
  readonly cells: CellBits | null;
  /** Whether these are a cover even if no other look shows one. */
  readonly sure: boolean;
  /** Cells in which a cover may go on that another look shows. */
  readonly possible: CellBits;
}

/**
 * What covers the face in every look when those around it are known too: what is seen for a moment only is dropped, and
 * a cover goes on in looks before and after that could show it. Looks are in order; null where nothing covers the face.
 */
export function coversInTime(looks: readonly JudgedLook[]): (CellBits | null)[] {
  const covers = looks.map((): CellBits | null => null);
  for (const { start, end } of connectedRuns(
    looks.length,
    (i) => looks[i]?.cells !== null,
    () => true,
  )) {
    const run = looks.slice(start, end);
    const length = (run.at(-1)?.seconds ?? 0) - (run[0]?.seconds ?? 0);
    if (length < SHORTEST_COVER - ROUNDING && !run.some(({ sure }) => sure)) continue;
    run.forEach(({ cells }, i) => (covers[start + i] = cells));
  }
  const own = [...covers];
  for (const step of [1, -1]) {
    let carried: Carried | null = null;
    for (let i = step === 1 ? 0 : looks.length - 1, look = looks[i]; look; i += step, look = looks[i]) {
      const away = Math.abs(look.seconds - (looks[i - step]?.seconds ?? NaN));
      carried = carried && away <= NEIGHBORS ? goOn(carried, away, look.possible) : null;
      const [cover, further] = [covers[i], carried && toBits(carried.cells)];
      covers[i] = united(cover ?? null, further);
      carried = joined(carried, own[i] ?? null);
    }
  }
  return covers;
}

/** Covered cells on their way from look to look, and how many seconds away the farthest look is that each depends on. */
interface Carried {
  readonly cells: Uint8Array;
  readonly away: Float32Array;
}

/** With the cells that a look shows itself, which go on from there. */
function joined(carried: Carried | null, own: CellBits | null): Carried | null {
  if (own === null) return carried;
  const shown = fromBits(own);
  const cells = shown.map((cell, i) => cell | (carried?.cells[i] ?? 0));
  return { cells, away: Float32Array.from(shown, (cell, i) => (cell === 1 ? 0 : (carried?.away[i] ?? 0))) };
}

/** What goes on, in the next look, of that which depends on nothing too far from it; null if nothing does. */
function goOn(carried: Carried, seconds: number, possible: CellBits): Carried | null {
  const before = carried.away.map((away) => away + seconds);
  const cover = carried.cells.map((cell, i) => ((before[i] ?? 0) <= COVER_GOES_ON + ROUNDING ? cell : 0));
  if (!cover.includes(1)) return null;
  const near = grown(cover, MOVES);
  const core = grown(cover, -EDGE);
  const cells = new Uint8Array(ALIGNED_CELLS);
  const away = new Float32Array(ALIGNED_CELLS);
  for (const part of connectedParts(fromBits(possible).map((cell, i) => cell & (near[i] ?? 0)))) {
    const staying = part.filter((cell) => core[cell] === 1).length;
    if (part.length < FEWEST || staying < STAYS * part.length) continue;
    const whole = new Uint8Array(ALIGNED_CELLS);
    for (const cell of part) whole[cell] = 1;
    let farthest = 0;
    grown(whole, MOVES).forEach((reached, i) => {
      if (reached === 1 && cover[i] === 1) farthest = Math.max(farthest, before[i] ?? 0);
    });
    grown(whole, WIDENED).forEach((covered, i) => {
      if (covered !== 1) return;
      cells[i] = 1;
      away[i] = Math.max(away[i] ?? 0, farthest);
    });
  }
  return cells.includes(1) ? { cells, away } : null;
}
