import { type Affine, type Patch, patchPoint, type Point } from '@lipsync/kernels';
import { ALIGNED_CELLS, ALIGNED_SIDE, cellOf, connectedParts, grown } from './aligned-face';
import { type AlignedLook, colorDistance, lumaChroma } from './cover-reference';
import { WIDENED } from './uncommon-cells';

/*
 * Finds what stays before a face throughout, such as a microphone on a stand. The face is never seen without it, but it
 * keeps its place in the picture while the face moves behind it: the head, or the jaw of a head that is still. A beard, lips
 * and shadows move with the face.
 */

/** A look, and where the face's square is in its picture. */
export interface PlacedLook extends AlignedLook {
  readonly patch: Patch;
}

/** Where such a thing is, in the cells of a square that stays in one place, and its colors there: Y, Cb and Cr. */
interface StandingThing {
  readonly patch: Patch;
  readonly cells: Uint8Array;
  readonly colors: Float32Array;
}

/** Fewer looks tell nothing. */
const FEWEST_LOOKS = 6;

/**
 * Nothing is seen here but the face and what is before it, however the head turns: the lower part of an ellipse around the
 * middle of eyes and mouth, from the nose to above the chin. Half its axes and its top, in cells. A place is judged that
 * lies there in so many of the looks.
 */
const INNER = { wide: 15, tall: 25, top: 34 };
const OFTEN = 0.4;

/** Cells above are not looked at: a row is left for the edges of those below. */
const FIRST_CELL = (INNER.top - 1) * ALIGNED_SIDE;

/** Cheeks and nose, which tell the color of the skin: rows 22 to 35, columns 18 to 45. */
const SKIN = Array.from(
  { length: 14 * 28 },
  (_, i) => (22 + Math.floor(i / 28)) * ALIGNED_SIDE + 18 + (i % 28),
);

/** A thing differs so much from the skin, and in one place by no more from look to look. */
const UNLIKE_SKIN = 50;
const STEADY = 12;

/** The fewest of its cells that are before the inner face. */
const FEWEST_CELLS = 8;

/** What is outside the picture, or in bars beside it, is darker than this, and keeps its place as well. */
const BLACK = 8;

/**
 * Its edge decides, added up over the cells around it, in levels of lightness per cell. It is so much clearer in the mean
 * of the looks laid over each other in the picture than as faces; and of what they show one by one, that mean has lost at
 * most this part of what the other one has. A thing on a moving head looks steady only inside, a few cells from its edge.
 */
const CLEARER = 100;
const LOSES = 0.7;
const EDGE_AROUND = 3;

/** While the cells on the nose and on the chin move by less than one, the head is still, and its jaw decides. */
const STILL = 1;
const STILL_CELLS = [34 * ALIGNED_SIDE + 32, 54 * ALIGNED_SIDE + 32];

/**
 * So many looks with the lower lip up are compared with as many in which it is so many cells lower. Between them, an edge
 * that stays differs by at most this part of the least that it differs by when it is moved down, by one cell up to the
 * lip's drop. Only cells below the lip count, of which there are enough.
 */
const LOOKS_OF_EACH = 3;
const DROPS = { least: 1.5, most: 6 };
const STAYS = 0.6;
const FEWEST_BELOW_LIP = 20;

const LOWER_LIP = 57;

/**
 * Finds what stands before the face; null if nothing does, or head and jaw are too still to tell.
 *
 * @param looks a few looks
 * @param among all looks of the same seconds, to choose those from in which the jaw is up or down
 */
export function standingThing(
  looks: readonly PlacedLook[],
  among: readonly PlacedLook[],
): StandingThing | null {
  const patch = middlePatch(looks);
  if (patch === null || looks.length < FEWEST_LOOKS) return null;
  const maps = looks.map((look) => cellMap(patch, look.patch));
  const asFaces = looks.map((look) => lumaChroma(look.colors));
  const inPlace = maps.map((map, i) => moved(asFaces[i] ?? new Float32Array(), map));
  const face = meanOf(asFaces);
  const colors = meanOf(inPlace);
  const edges = { asFaces: edgesOf(face), inPlace: edgesOf(colors), single: meanOf(inPlace.map(edgesOf)) };
  const skin = colorOf(face, SKIN);
  const inner = new Uint8Array(ALIGNED_CELLS);
  const steady = new Uint8Array(ALIGNED_CELLS);
  for (let cell = INNER.top * ALIGNED_SIDE; cell < ALIGNED_CELLS; cell++) {
    if (maps.filter((map) => isInner(mapped(cell, map))).length >= OFTEN * looks.length) inner[cell] = 1;
    if ((colors[cell * 3] ?? 0) < BLACK || colorDistance(colors, cell * 3, skin, 0) <= UNLIKE_SKIN) continue;
    const differs = inPlace.reduce((sum, look) => sum + colorDistance(look, cell * 3, colors, cell * 3), 0);
    if (differs < STEADY * looks.length) steady[cell] = 1;
  }
  const cells = new Uint8Array(ALIGNED_CELLS);
  let jaw: JawMoves | null | undefined;
  for (const part of connectedParts(steady.map((cell, i) => cell & (inner[i] ?? 0)))) {
    if (part.length < FEWEST_CELLS) continue;
    const along = alongEdge(part, inner);
    if (!isClearest(along, edges)) {
      if (jaw === undefined) jaw = jawMoves(among, patch);
      if (!staysAsJawMoves(along, jaw)) continue;
    }
    // Beyond the inner face it goes on in cells that are more like it than like the skin, as a neck in the shade is not.
    const own = colorOf(colors, part);
    const alike = steady.map((cell, i) =>
      colorDistance(colors, i * 3, own, 0) < colorDistance(colors, i * 3, skin, 0) ? cell : 0,
    );
    for (const whole of connectedParts(alike))
      if (whole.some((cell) => part.includes(cell))) for (const cell of whole) cells[cell] = 1;
  }
  return cells.includes(1) ? { patch, cells, colors } : null;
}

/** How clear edges are: in the looks' mean as faces, in their mean in the picture, and in the mean look. */
interface Edges {
  readonly asFaces: Float32Array;
  readonly inPlace: Float32Array;
  readonly single: Float32Array;
}

/** The cells of the inner face around the edge of a part of it. */
function alongEdge(part: readonly number[], inner: Uint8Array): number[] {
  const whole = new Uint8Array(ALIGNED_CELLS);
  for (const cell of part) whole[cell] = 1;
  const core = grown(whole, -1);
  return Array.from(grown(whole, EDGE_AROUND).entries()).flatMap(([cell, is]) =>
    is === 1 && inner[cell] === 1 && core[cell] !== 1 ? [cell] : [],
  );
}

function isClearest(along: readonly number[], edges: Edges): boolean {
  const clear = (values: Float32Array): number => along.reduce((sum, cell) => sum + (values[cell] ?? 0), 0);
  const [asFaces, inPlace, single] = [clear(edges.asFaces), clear(edges.inPlace), clear(edges.single)];
  return inPlace - asFaces > CLEARER && single - inPlace < LOSES * (single - asFaces);
}

/** A still face with its lower lip up, and with it down: colors in the picture, the lip's row, and how far it moves. */
interface JawMoves {
  readonly up: Float32Array;
  readonly down: Float32Array;
  readonly lip: number;
  readonly drop: number;
}

function jawMoves(looks: readonly PlacedLook[], patch: Patch): JawMoves | null {
  const still = looks
    .map((look) => ({ look, map: cellMap(patch, look.patch), lip: look.landmarks[LOWER_LIP * 2 + 1] ?? 0 }))
    .filter(({ map }) => STILL_CELLS.every((cell) => apart(mapped(cell, map), centerOf(cell)) < STILL))
    .sort((a, b) => a.lip - b.lip);
  const up = still.slice(0, LOOKS_OF_EACH);
  const most = meanLip(up) + DROPS.most;
  const down = still.filter(({ lip }) => lip <= most).slice(-LOOKS_OF_EACH);
  const drop = meanLip(down) - meanLip(up);
  if (still.length < FEWEST_LOOKS || drop < DROPS.least) return null;
  const shown = (some: typeof still): Float32Array =>
    meanOf(some.map(({ look, map }) => moved(lumaChroma(look.colors), map)));
  return { up: shown(up), down: shown(down), lip: meanLip(down), drop };
}

const meanLip = (looks: readonly { readonly lip: number }[]): number =>
  looks.reduce((sum, { lip }) => sum + lip, 0) / looks.length;

function staysAsJawMoves(along: readonly number[], jaw: JawMoves | null): boolean {
  if (jaw === null) return false;
  const lowest = ALIGNED_SIDE - Math.round(jaw.drop);
  const below = along.filter((cell) => {
    const row = Math.floor(cell / ALIGNED_SIDE);
    return row > jaw.lip && row < lowest;
  });
  if (below.length < FEWEST_BELOW_LIP) return false;
  const differs = (down: number): number =>
    below.reduce(
      (sum, cell) => sum + colorDistance(jaw.down, (cell + down * ALIGNED_SIDE) * 3, jaw.up, cell * 3),
      0,
    );
  const moves = Array.from({ length: Math.round(jaw.drop) }, (_, i) => differs(i + 1));
  return differs(0) < STAYS * Math.min(...moves);
}

/** The cells in which a look shows the thing, and some around them: 1 each. */
export function standingCells({ patch, cells, colors }: StandingThing, look: PlacedLook): Uint8Array {
  const own = lumaChroma(look.colors);
  const map = cellMap(look.patch, patch);
  const shown = new Uint8Array(ALIGNED_CELLS);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    const { x, y } = mapped(cell, map);
    if (x < 0 || x >= ALIGNED_SIDE || y < 0 || y >= ALIGNED_SIDE) continue;
    const there = Math.floor(y) * ALIGNED_SIDE + Math.floor(x);
    if (cells[there] === 1 && colorDistance(own, cell * 3, colors, there * 3) < 1.5 * STEADY) shown[cell] = 1;
  }
  return grown(shown, WIDENED);
}

/** The patch that is nearest the middle of where they are; null if there is none. */
function middlePatch(looks: readonly PlacedLook[]): Patch | null {
  const half = Math.floor(looks.length / 2);
  const x = looks.map(({ patch }) => patch.x).sort((a, b) => a - b)[half] ?? 0;
  const y = looks.map(({ patch }) => patch.y).sort((a, b) => a - b)[half] ?? 0;
  const away = ({ patch }: PlacedLook): number => Math.hypot(patch.x - x, patch.y - y);
  return looks.toSorted((a, b) => away(a) - away(b))[0]?.patch ?? null;
}

/** Maps the cells of one square to those of another one that show the same place. */
function cellMap(from: Patch, to: Patch): Affine {
  const origin = cellOf(patchPoint(from, 0, 0), to);
  const right = cellOf(patchPoint(from, 1, 0), to);
  const down = cellOf(patchPoint(from, 0, 1), to);
  const per = (end: number, start: number): number => (end - start) / ALIGNED_SIDE;
  return {
    ...{ a: per(right.x, origin.x), b: per(down.x, origin.x), c: origin.x },
    ...{ d: per(right.y, origin.y), e: per(down.y, origin.y), f: origin.y },
  };
}

const centerOf = (cell: number): Point => ({
  x: (cell % ALIGNED_SIDE) + 0.5,
  y: Math.floor(cell / ALIGNED_SIDE) + 0.5,
});

/** Where this cell's center is in the other square, in its cells. */
function mapped(cell: number, { a, b, c, d, e, f }: Affine): Point {
  const { x, y } = centerOf(cell);
  return { x: a * x + b * y + c, y: d * x + e * y + f };
}

const apart = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

const MIDDLE = ALIGNED_SIDE / 2;

const isInner = ({ x, y }: Point): boolean =>
  y > INNER.top && Math.hypot((x - MIDDLE) / INNER.wide, (y - MIDDLE) / INNER.tall) < 1;

/**
 * What a square shows in the cells of another one, from the nose down, by a map from these; beyond its border it shows what
 * the border shows.
 */
function moved(colors: Float32Array, map: Affine): Float32Array {
  const out = new Float32Array(ALIGNED_CELLS * 3);
  const most = ALIGNED_SIDE - 1.001;
  for (let cell = FIRST_CELL; cell < ALIGNED_CELLS; cell++) {
    const place = mapped(cell, map);
    const x = Math.min(most, Math.max(0, place.x - 0.5));
    const y = Math.min(most, Math.max(0, place.y - 0.5));
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const [right, down] = [x - column, y - row];
    for (let k = 0; k < 3; k++) {
      const at = (row * ALIGNED_SIDE + column) * 3 + k;
      const below = at + ALIGNED_SIDE * 3;
      const upper = (colors[at] ?? 0) * (1 - right) + (colors[at + 3] ?? 0) * right;
      const lower = (colors[below] ?? 0) * (1 - right) + (colors[below + 3] ?? 0) * right;
      out[cell * 3 + k] = upper * (1 - down) + lower * down;
    }
  }
  return out;
}

function meanOf(rows: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(rows[0]?.length ?? 0);
  for (const row of rows)
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (row[i] ?? 0) / rows.length;
  return mean;
}

/** The mean color of these cells. */
function colorOf(colors: Float32Array, cells: readonly number[]): Float32Array {
  return meanOf(cells.map((cell) => colors.subarray(cell * 3, cell * 3 + 3)));
}

/** By how much lightness changes from cell to cell, from the nose down to above the last row. */
function edgesOf(colors: Float32Array): Float32Array {
  const edges = new Float32Array(ALIGNED_CELLS);
  for (let cell = FIRST_CELL; cell < ALIGNED_CELLS - ALIGNED_SIDE; cell++) {
    const at = cell * 3;
    const right = (colors[at + 3] ?? 0) - (colors[at - 3] ?? 0);
    const down = (colors[at + ALIGNED_SIDE * 3] ?? 0) - (colors[at - ALIGNED_SIDE * 3] ?? 0);
    edges[cell] = Math.hypot(right, down) / 2;
  }
  return edges;
}
