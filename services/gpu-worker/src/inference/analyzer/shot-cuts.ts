import { type Box, type RgbPicture } from '@lipsync/kernels';

const GRID = 4;
const BINS = 16;

/** Mean share of a cell's pixels that must change brightness class for a cut. Talking and gestures stay below 0.2. */
const CUT_DIFFERENCE = 0.45;

/**
 * Mean change in brightness, of 255, below which a face is the previous frame's, unmoved. In talks, nine steps of ten
 * are below this value. Two frames of one talk that are a second apart never were, and frames of two people even less
 * so.
 */
const SAME_FACE_CHANGE = 12;

/** Every 4th pixel of every 4th row is enough for a histogram. */
const SAMPLING = 4;

/** Brightness of the sampled pixels of a picture, 0..255, in rows. */
interface Samples {
  readonly columns: number;
  readonly rows: number;
  readonly luma: Uint8Array;
}

/** What is new in a picture. */
export interface News {
  /** A shot begins with it. */
  readonly shot: boolean;
  /** Where the followed face was, there is something else. */
  readonly face: boolean;
}

/** Compares a picture with the one before. `face` is where the face followed so far, if any, was last seen. */
type FindNews = (picture: RgbPicture, face: Box | null) => News;

/**
 * Detects the first frame of each shot: its brightness histograms, one per cell of a 4×4 grid, differ from those of the
 * previous frame. If the followed face is unchanged, only something around it has changed: a slide, or the panel of
 * somebody who joined the call. Must be called with every frame in order; the very first begins a shot.
 */
export function createCutDetector(): FindNews {
  let previous: { readonly samples: Samples; readonly histograms: Float32Array } | null = null;
  return (picture, face) => {
    const samples = sample(picture);
    const current = { samples, histograms: histograms(samples) };
    const before = previous;
    previous = current;
    if (before === null) return { shot: true, face: false };
    const isOther = difference(before.histograms, current.histograms) > CUT_DIFFERENCE;
    const isFaceNew = face !== null && change(before.samples, samples, face) >= SAME_FACE_CHANGE;
    return { shot: isOther && (face === null || isFaceNew), face: isFaceNew };
  };
}

function sample({ width, height, data }: RgbPicture): Samples {
  const columns = Math.ceil(width / SAMPLING);
  const rows = Math.ceil(height / SAMPLING);
  const luma = new Uint8Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const pixel = (row * width + column) * SAMPLING * 3;
      luma[row * columns + column] =
        ((data[pixel] ?? 0) + 2 * (data[pixel + 1] ?? 0) + (data[pixel + 2] ?? 0)) >> 2;
    }
  }
  return { columns, rows, luma };
}

/** Shares of the cells' pixels per brightness class; each cell's 16 values add up to 1. */
function histograms({ columns, rows, luma }: Samples): Float32Array {
  const counts = new Float32Array(GRID * GRID * BINS);
  const totals = new Float32Array(GRID * GRID);
  for (let row = 0; row < rows; row++) {
    const cellRow = Math.floor((row * GRID) / rows) * GRID;
    for (let cellColumn = 0; cellColumn < GRID; cellColumn++) {
      const cell = cellRow + cellColumn;
      const from = Math.ceil((cellColumn * columns) / GRID);
      const to = Math.ceil(((cellColumn + 1) * columns) / GRID);
      for (let i = row * columns + from; i < row * columns + to; i++) {
        const bin = cell * BINS + ((luma[i] ?? 0) >> 4);
        counts[bin] = (counts[bin] ?? 0) + 1;
      }
      totals[cell] = (totals[cell] ?? 0) + to - from;
    }
  }
  return counts.map((count, i) => count / Math.max(1, totals[Math.floor(i / BINS)] ?? 0));
}

/** Half the summed absolute difference, averaged over the cells: 0 for equal pictures, 1 for nothing in common. */
function difference(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs((a[i] ?? 0) - (b[i] ?? 0));
  return sum / 2 / (GRID * GRID);
}

/** Mean absolute difference of the samples within a box; Infinity for a box that holds none. */
function change({ columns, rows, luma }: Samples, now: Samples, { x1, y1, x2, y2 }: Box): number {
  let sum = 0;
  let count = 0;
  for (let row = Math.max(0, Math.ceil(y1 / SAMPLING)); row < Math.min(rows, y2 / SAMPLING); row++) {
    const start = row * columns;
    const end = start + Math.min(columns, Math.ceil(x2 / SAMPLING));
    for (let i = start + Math.max(0, Math.ceil(x1 / SAMPLING)); i < end; i++) {
      sum += Math.abs((luma[i] ?? 0) - (now.luma[i] ?? 0));
      count++;
    }
  }
  return count > 0 ? sum / count : Infinity;
}
