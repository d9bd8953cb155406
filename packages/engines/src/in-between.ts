import { type Box } from '@lipsync/kernels';

/** The displacement of every cell of a square grid from one picture to the other, in cells. */
interface Motion {
  readonly across: Float32Array;
  readonly down: Float32Array;
}

/** A brightness picture, [side, side]. */
interface Level {
  readonly side: number;
  readonly values: Float32Array;
}

/** Cells of the finest grid in a row: the face is then about 50 cells wide, and lips are a few. */
const FINEST = 64;
/** Cells of the coarsest, on which the largest motion is less than two. */
const COARSEST = 16;
/** Rounds of refinement per grid. */
const ROUNDS = 3;
/** Cells around a cell, to either side, that move with it. */
const REACH = 2;
/** What a motion must gain in likeness, squared levels per squared cell: below it a plain area stands still. */
const STIFFNESS = 2e-4;
/** Pixels that are drawn around what is shown, of the side. */
const MARGIN = 1 / 32;
/** Cells around a cell, to either side, in which moved crops must be alike. */
const TRUST_REACH = 3;
/** Where moved crops differ by this much, levels, they move by half. */
const DOUBT = 0.06;

/**
 * Draws the face between two crops of the same face: both are moved along the motion from one to the other, each by its
 * part of the way, and then mixed. Where nothing moves this is their mean. A mean of crops that moved would show two
 * pairs of lips. The motion is found by likeness (Lucas and Kanade's method on a pyramid), at once for both crops in the
 * middle, so that every pixel has one.
 *
 * Where the moved crops are still unlike, as where lips open over teeth, there is no motion from one to the other. There
 * they move little, and are mixed.
 */
export function createInBetween(
  side: number,
  /** The part of the crop that is shown, in its pixels. The rest is taken from the earlier crop as it is. */
  { x1, y1, x2, y2 }: Box,
) {
  // Whoever resamples the crop looks a little further than what it shows.
  const margin = side * MARGIN;
  const left = Math.max(0, Math.floor(x1 - margin));
  const top = Math.max(0, Math.floor(y1 - margin));
  const right = Math.min(side, Math.ceil(x2 + margin));
  const bottom = Math.min(side, Math.ceil(y2 + margin));
  const area = side * side;

  /** Draws the crop that is `share` of the way from one to the other, all [3, side, side], to `target`. */
  return (from: Float32Array, to: Float32Array, share: number, target: Float32Array): void => {
    const { across, down } = motionBetween(pyramidOf(from, side), pyramidOf(to, side), share);
    const cells = Math.sqrt(across.length);
    const pixels = side / cells;
    const field: Tap = { at: 0, x: 0, y: 0 };
    const before: Tap = { at: 0, x: 0, y: 0 };
    const after: Tap = { at: 0, x: 0, y: 0 };
    target.set(from);
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        place(field, cells, (x + 0.5) / pixels - 0.5, (y + 0.5) / pixels - 0.5);
        const movedX = read(across, cells, 0, field) * pixels;
        const movedY = read(down, cells, 0, field) * pixels;
        place(before, side, x - share * movedX, y - share * movedY);
        place(after, side, x + (1 - share) * movedX, y + (1 - share) * movedY);
        const at = y * side + x;
        for (let plane = 0; plane < 3 * area; plane += area) {
          const earlier = read(from, side, plane, before);
          target[plane + at] = earlier + share * (read(to, side, plane, after) - earlier);
        }
      }
    }
  };
}

/** A place between the pixels of a square picture: the index of the upper left one, and how far it is from there. */
interface Tap {
  at: number;
  x: number;
  y: number;
}

/** Moves a tap to a place, inside the picture; pixels have their centers at whole coordinates. */
function place(tap: Tap, side: number, x: number, y: number): void {
  const last = Math.max(0, side - 1.001);
  const insideX = x < 0 ? 0 : x > last ? last : x;
  const insideY = y < 0 ? 0 : y > last ? last : y;
  const column = Math.floor(insideX);
  const row = Math.floor(insideY);
  tap.at = row * side + column;
  tap.x = insideX - column;
  tap.y = insideY - row;
}

/** The value of a plane at a tap. */
function read(values: Float32Array, side: number, plane: number, { at, x, y }: Tap): number {
  const i = plane + at;
  const a = values[i] ?? 0;
  const c = values[i + side] ?? 0;
  const upper = a + x * ((values[i + 1] ?? 0) - a);
  const lower = c + x * ((values[i + side + 1] ?? 0) - c);
  return upper + y * (lower - upper);
}

/** Brightness on grids of halving size, the finest first. */
function pyramidOf(crop: Float32Array, side: number): Level[] {
  const finest = Math.min(FINEST, side);
  const levels = [brightness(crop, side, finest)];
  for (let cells = finest >> 1; cells >= COARSEST; cells >>= 1) {
    const { side: double, values } = levels.at(-1) ?? { side: 0, values: crop };
    const halved = new Float32Array(cells * cells);
    for (let y = 0; y < cells; y++)
      for (let x = 0; x < cells; x++) {
        const at = 2 * y * double + 2 * x;
        halved[y * cells + x] =
          ((values[at] ?? 0) +
            (values[at + 1] ?? 0) +
            (values[at + double] ?? 0) +
            (values[at + double + 1] ?? 0)) /
          4;
      }
    levels.push({ side: cells, values: halved });
  }
  return levels;
}

/** The mean brightness of the pixels of each cell. */
function brightness(crop: Float32Array, side: number, cells: number): Level {
  const values = new Float32Array(cells * cells);
  const counts = new Float32Array(cells * cells);
  const area = side * side;
  for (let y = 0; y < side; y++) {
    const row = Math.floor((y * cells) / side) * cells;
    for (let x = 0; x < side; x++) {
      const cell = row + Math.floor((x * cells) / side);
      const at = y * side + x;
      const level =
        0.299 * (crop[at] ?? 0) + 0.587 * (crop[at + area] ?? 0) + 0.114 * (crop[at + 2 * area] ?? 0);
      values[cell] = (values[cell] ?? 0) + level;
      counts[cell] = (counts[cell] ?? 0) + 1;
    }
  }
  return { side: cells, values: values.map((sum, i) => sum / (counts[i] ?? 1)) };
}

function motionBetween(from: readonly Level[], to: readonly Level[], share: number): Motion {
  let motion: Motion | undefined;
  for (let i = from.length - 1; i >= 0; i--) {
    const [before, after] = [from[i], to[i]];
    if (!before || !after) continue;
    motion = motion ? doubled(motion, before.side) : still(before.side);
    for (let round = 0; round < ROUNDS; round++) refine(motion, before, after, share);
    if (i === 0) doubt(motion, before, after, share);
  }
  return motion ?? still(1);
}

function still(side: number): Motion {
  return { across: new Float32Array(side * side), down: new Float32Array(side * side) };
}

/** The same motion on a grid of `side` cells. */
function doubled({ across, down }: Motion, side: number): Motion {
  const coarse = Math.sqrt(across.length);
  const factor = side / coarse;
  const tap: Tap = { at: 0, x: 0, y: 0 };
  const finer = still(side);
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      place(tap, coarse, (x + 0.5) / factor - 0.5, (y + 0.5) / factor - 0.5);
      finer.across[y * side + x] = factor * read(across, coarse, 0, tap);
      finer.down[y * side + x] = factor * read(down, coarse, 0, tap);
    }
  return finer;
}

/** One step of Gauss and Newton towards the motion that makes the moved pictures alike around every cell. */
function refine(motion: Motion, before: Level, after: Level, share: number): void {
  const { across, down } = motion;
  const { side } = before;
  const earlier = moved(before, motion, -share);
  const later = moved(after, motion, 1 - share);
  const middle = earlier.map((value, i) => value + (1 - share) * ((later[i] ?? 0) - value));
  const sums = (): Float32Array => new Float32Array(side * side);
  const [xx, xy, yy, xt, yt] = [sums(), sums(), sums(), sums(), sums()];
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const i = y * side + x;
      const slopeX = ((middle[x < side - 1 ? i + 1 : i] ?? 0) - (middle[x > 0 ? i - 1 : i] ?? 0)) / 2;
      const slopeY = ((middle[y < side - 1 ? i + side : i] ?? 0) - (middle[y > 0 ? i - side : i] ?? 0)) / 2;
      const change = (later[i] ?? 0) - (earlier[i] ?? 0);
      xx[i] = slopeX * slopeX;
      xy[i] = slopeX * slopeY;
      yy[i] = slopeY * slopeY;
      xt[i] = slopeX * change;
      yt[i] = slopeY * change;
    }
  for (const values of [xx, xy, yy, xt, yt]) blur(values, side, REACH);
  for (let i = 0; i < across.length; i++) {
    const a = (xx[i] ?? 0) + STIFFNESS;
    const b = xy[i] ?? 0;
    const c = (yy[i] ?? 0) + STIFFNESS;
    const determinant = a * c - b * b;
    across[i] = (across[i] ?? 0) - limited((c * (xt[i] ?? 0) - b * (yt[i] ?? 0)) / determinant);
    down[i] = (down[i] ?? 0) - limited((a * (yt[i] ?? 0) - b * (xt[i] ?? 0)) / determinant);
  }
  blur(across, side, 1);
  blur(down, side, 1);
}

/** Takes motion back where it does not make the crops alike. */
function doubt(motion: Motion, before: Level, after: Level, share: number): void {
  const { across, down } = motion;
  const later = moved(after, motion, 1 - share);
  const unlike = moved(before, motion, -share).map((value, i) => Math.abs(value - (later[i] ?? 0)));
  blur(unlike, before.side, TRUST_REACH);
  for (let i = 0; i < across.length; i++) {
    const trust = 1 / (1 + ((unlike[i] ?? 0) / DOUBT) ** 2);
    across[i] = (across[i] ?? 0) * trust;
    down[i] = (down[i] ?? 0) * trust;
  }
}

/** The method holds for about a cell. */
const limited = (step: number): number => Math.max(-1, Math.min(1, step));

/** A picture as it looks `part` of the motion further on. */
function moved({ side, values }: Level, { across, down }: Motion, part: number): Float32Array {
  const result = new Float32Array(side * side);
  const tap: Tap = { at: 0, x: 0, y: 0 };
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const i = y * side + x;
      place(tap, side, x + part * (across[i] ?? 0), y + part * (down[i] ?? 0));
      result[i] = read(values, side, 0, tap);
    }
  return result;
}

/** Replaces every value by the mean of those up to `reach` away, in rows and columns; the border's go on beyond it. */
function blur(values: Float32Array, side: number, reach: number): void {
  const line = new Float32Array(side + 2 * reach);
  const along = (start: number, step: number): void => {
    for (let i = 0; i < line.length; i++)
      line[i] = values[start + Math.max(0, Math.min(side - 1, i - reach)) * step] ?? 0;
    let sum = 0;
    for (let i = 0; i < 2 * reach; i++) sum += line[i] ?? 0;
    for (let i = 0; i < side; i++) {
      sum += line[i + 2 * reach] ?? 0;
      values[start + i * step] = sum / (2 * reach + 1);
      sum -= line[i] ?? 0;
    }
  };
  for (let row = 0; row < side; row++) along(row * side, 1);
  for (let column = 0; column < side; column++) along(column, side);
}

/**
 * A measure of frames that differ in turn, as generated ones and those between them might: every second value over the
 * mean of its neighbors, in the middling case; of the lower half, so 1 where nothing alternates and less elsewhere. NaN
 * for fewer than four values in a row. `values` are those of consecutive frames, such as their sharpness; null is none.
 */
export function alternation(values: readonly (number | null)[]): number {
  const halves: [number[], number[]] = [[], []];
  values.forEach((value, i) => {
    const [before, after] = [values[i - 1], values[i + 1]];
    if (value !== null && before != null && after != null)
      halves[i % 2 === 0 ? 0 : 1].push((2 * value) / (before + after));
  });
  return Math.min(...halves.map((ratios) => ratios.sort((a, b) => a - b)[ratios.length >> 1] ?? NaN));
}
