import { type Point } from '@lipsync/kernels';
import { ALIGNED_CELLS, ALIGNED_SIDE, cellsWithin, grown } from './aligned-face';
import { darkLines, usualLines } from './thin-lines';

/** A look at a face. */
export interface AlignedLook {
  readonly seconds: number;
  /** The face as RGB, in aligned cells. */
  readonly colors: Uint8Array;
  /** Its landmarks in cells, x and y. */
  readonly landmarks: Float32Array;
}

/** How a face looks with nothing before it. */
export interface CoverReference {
  /** Per cell: lightness and the two color differences that it has most, of the lightness `level`. */
  readonly colors: Float32Array;
  /** Per cell: how far apart its usual colors are, the cells around it included. */
  readonly spread: Float32Array;
  /** Per cell: how dark a line it usually is. */
  readonly lines: Float32Array;
  readonly level: number;
  /** Cells of the face below the eyes; these and some around them; those of the upper part, which tell the light. */
  readonly face: Uint8Array;
  readonly around: Uint8Array;
  readonly upper: Uint8Array;
  /** The cells of the face without its border, from the top down. */
  readonly inside: readonly number[];
  /** Cells of the mouth. */
  readonly mouth: Uint8Array;
  /** Place of the tip of the nose: where the head is turned to. */
  readonly nose: Point;
}

/** Weights of a difference in lightness and of one in color: light and shade change the former. */
const LIGHTNESS = 0.7;
const CHROMA = 1.6;

export function colorDistance(a: Float32Array, i: number, b: Float32Array, j: number): number {
  const y = Math.abs((a[i] ?? 0) - (b[j] ?? 0));
  const blue = Math.abs((a[i + 1] ?? 0) - (b[j + 1] ?? 0));
  const red = Math.abs((a[i + 2] ?? 0) - (b[j + 2] ?? 0));
  return LIGHTNESS * y + CHROMA * (blue + red);
}

const JAW_POINTS = 17;
const NOSE_TIP = 30;
const NOSE_BOTTOM = 33;
const NOSE_SIDE = 29;
const OUTER_LIPS = [48, 60] as const;

export function pointsOf(landmarks: Float32Array, first: number, end: number): Point[] {
  return Array.from({ length: end - first }, (_, i) => ({
    x: landmarks[(first + i) * 2] ?? 0,
    y: landmarks[(first + i) * 2 + 1] ?? 0,
  }));
}

/** Cells between the eyes and the jaw. */
export const faceCells = (landmarks: Float32Array): Uint8Array =>
  cellsWithin(pointsOf(landmarks, 0, JAW_POINTS));

/** Cells of the lips and of what is between them. */
export function mouthCells(landmarks: Float32Array): Uint8Array {
  return cellsWithin(pointsOf(landmarks, ...OUTER_LIPS));
}

/**
 * A cell's usual color is that of its colors to which half of them are nearest (a least-median-of-squares location,
 * Rousseeuw 1984), so that something may cover it for almost half of the time. The spread is the distance of two fifths.
 */
const NEAREST = 0.5;
const SPREAD = 0.4;

/** Cells around the face that show a cover's other parts. */
const AROUND = 4;

/** So many cells along the border of the face say nothing: they show what is beside it as well. */
export const BORDER = 2;

/** The usual face of these looks, of which there is at least one. */
export function createReference(looks: readonly AlignedLook[]): CoverReference {
  const landmarks = medianOf(looks.map((look) => look.landmarks));
  const jaw = pointsOf(landmarks, 0, JAW_POINTS);
  const [nose = { x: 0, y: 0 }] = pointsOf(landmarks, NOSE_TIP, NOSE_TIP + 1);
  const top = landmarks[NOSE_SIDE * 2 + 1] ?? 0;
  const bottom = landmarks[NOSE_BOTTOM * 2 + 1] ?? 0;
  const corners = [jaw.at(-1), jaw[0]].map((corner) => ({ x: corner?.x ?? 0, y: top }));
  const face = cellsWithin([...jaw, ...corners]);
  const upper = face.map((cell, i) => (i < Math.floor(bottom) * ALIGNED_SIDE ? cell : 0));

  const samples = looks.map(({ colors }) => lumaChroma(colors));
  const levels = samples.map((sample) => levelOf(sample, upper));
  const level = levels.toSorted((a, b) => a - b)[Math.floor(levels.length / 2)] ?? 1;
  samples.forEach((sample, i) => {
    relight(sample, levels[i] ?? level, level);
  });
  const colors = new Float32Array(ALIGNED_CELLS * 3);
  const near = new Float32Array(ALIGNED_CELLS);
  const around = grown(face, AROUND);
  const count = samples.length;
  const rank = (part: number): number => Math.min(count - 1, Math.floor(count * part));
  const [nearestRank, spreadRank] = [rank(NEAREST), rank(SPREAD)];
  const distances = new Float32Array(count ** 2);
  const row = new Float32Array(count);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    if (around[cell] !== 1) continue;
    writeDistances(samples, cell * 3, distances);
    let best = 0;
    let nearest = Infinity;
    for (let i = 0; i < count; i++) {
      sortInto(row, distances, i * count);
      const distance = row[nearestRank] ?? 0;
      if (distance >= nearest) continue;
      best = i;
      nearest = distance;
      near[cell] = row[spreadRank] ?? 0;
    }
    const similar = samples.filter((_, i) => (distances[best * count + i] ?? 0) <= nearest);
    for (let k = cell * 3; k < cell * 3 + 3; k++)
      colors[k] = similar.reduce((sum, sample) => sum + (sample[k] ?? 0), 0) / similar.length;
  }
  return {
    colors,
    spread: largestAround(near),
    lines: usualLines(looks.map((look, i) => darkLines(look.colors, levels[i] ?? level, around))),
    level,
    face,
    around,
    upper,
    inside: Array.from(grown(face, -BORDER).entries()).flatMap(([cell, is]) => (is === 1 ? [cell] : [])),
    mouth: mouthCells(landmarks),
    nose,
  };
}

/** The distances between the colors that each two samples have at `at`: a row for each. */
function writeDistances(samples: readonly Float32Array[], at: number, distances: Float32Array): void {
  samples.forEach((sample, i) => {
    for (let j = 0; j < i; j++) {
      const distance = colorDistance(sample, at, samples[j] ?? sample, at);
      distances[i * samples.length + j] = distance;
      distances[j * samples.length + i] = distance;
    }
  });
}

/** Fills `row` with the values from `start` on, in order: by insertion, which is the fastest way for a dozen. */
function sortInto(row: Float32Array, values: Float32Array, start: number): void {
  for (let i = 0; i < row.length; i++) {
    const value = values[start + i] ?? 0;
    let place = i;
    for (; place > 0 && (row[place - 1] ?? 0) > value; place--) row[place] = row[place - 1] ?? 0;
    row[place] = value;
  }
}

/** The median of each value. */
function medianOf(rows: readonly Float32Array[]): Float32Array {
  const middle = Math.floor(rows.length / 2);
  const values = new Float32Array(rows.length);
  return new Float32Array(rows[0]?.length ?? 0).map((_, i) => {
    rows.forEach((row, j) => {
      values[j] = row[i] ?? 0;
    });
    return values.sort()[middle] ?? 0;
  });
}

function largestAround(values: Float32Array): Float32Array {
  return values.map((_, cell) => {
    let largest = 0;
    for (let down = -1; down <= 1; down++)
      for (let right = -1; right <= 1; right++)
        largest = Math.max(largest, values[cell + down * ALIGNED_SIDE + right] ?? 0);
    return largest;
  });
}

/**
 * RGB → Y, Cb and Cr (ITU-R BT.601), averaged over three cells each way: a cell may show as little as a pixel, with the
 * noise and the blocks of its codec.
 */
export function lumaChroma(rgb: Uint8Array): Float32Array {
  const sums = new Float32Array(ALIGNED_CELLS * 3);
  const width = ALIGNED_SIDE * 3;
  for (let row = 0; row < ALIGNED_SIDE; row++) {
    const above = Math.max(0, row - 1) * width;
    const below = Math.min(ALIGNED_SIDE - 1, row + 1) * width;
    for (let i = 0; i < width; i++)
      sums[row * width + i] = (rgb[above + i] ?? 0) + (rgb[row * width + i] ?? 0) + (rgb[below + i] ?? 0);
  }
  const out = new Float32Array(ALIGNED_CELLS * 3);
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) {
    const column = cell % ALIGNED_SIDE;
    const at = cell * 3;
    const left = column === 0 ? at : at - 3;
    const right = column === ALIGNED_SIDE - 1 ? at : at + 3;
    const red = (sums[left] ?? 0) + (sums[at] ?? 0) + (sums[right] ?? 0);
    const green = (sums[left + 1] ?? 0) + (sums[at + 1] ?? 0) + (sums[right + 1] ?? 0);
    const blue = (sums[left + 2] ?? 0) + (sums[at + 2] ?? 0) + (sums[right + 2] ?? 0);
    const luma = (0.299 * red + 0.587 * green + 0.114 * blue) / 9;
    out[at] = luma;
    out[at + 1] = 0.564 * (blue / 9 - luma);
    out[at + 2] = 0.713 * (red / 9 - luma);
  }
  return out;
}

/** The median lightness of the upper face, at least 1. */
export function levelOf(colors: Float32Array, upper: Uint8Array): number {
  const levels: number[] = [];
  for (let cell = 0; cell < ALIGNED_CELLS; cell++) if (upper[cell] === 1) levels.push(colors[cell * 3] ?? 0);
  return Math.max(1, Float32Array.from(levels).sort()[Math.floor(levels.length / 2)] ?? 1);
}

/** Brings the colors of a face whose upper part has lightness `from` into a light that gives it `to`, in place. */
export function relight(colors: Float32Array, from: number, to: number): void {
  const gain = to / from;
  for (let i = 0; i < colors.length; i++) colors[i] = (colors[i] ?? 0) * gain;
}
