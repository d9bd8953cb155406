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
const NEIGHBORS = 0.3;

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
  /** The seconds of the look that showed the cover first. */
  const shown = looks.map(({ seconds }, i) => (covers[i] ? seconds : NaN));

  function goOn(from: number, to: number): void {
    const [cover, before, now] = [covers[from], looks[from], looks[to]];
    const since = shown[from] ?? NaN;
    if (!cover || !before || !now || Math.abs(now.seconds - before.seconds) > NEIGHBORS) return;
    if (!(Math.abs(now.seconds - since) <= COVER_GOES_ON + ROUNDING)) return;
    const further = continued(fromBits(cover), fromBits(now.possible));
    if (further === null) return;
    const own = covers[to];
    covers[to] = own ? own.map((byte, i) => byte | (further[i] ?? 0)) : further;
    if (!own) shown[to] = since;
  }
  for (let i = 1; i < looks.length; i++) goOn(i - 1, i);
  for (let i = looks.length - 1; i > 0; i--) goOn(i, i - 1);
  return covers;
}

/** The part of the possible cells in which a cover goes on, or null. */
function continued(cover: Uint8Array, possible: Uint8Array): CellBits | null {
  const near = grown(cover, MOVES);
  const core = grown(cover, -EDGE);
  const cells = new Uint8Array(ALIGNED_CELLS);
  let found = false;
  for (const part of connectedParts(possible.map((cell, i) => cell & (near[i] ?? 0)))) {
    const staying = part.filter((cell) => core[cell] === 1).length;
    if (part.length < FEWEST || staying < STAYS * part.length) continue;
    for (const cell of part) cells[cell] = 1;
    found = true;
  }
  return found ? toBits(grown(cells, WIDENED)) : null;
}
