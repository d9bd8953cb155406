import { type RgbPicture } from '@lipsync/lipsync';

const GRID = 4;
const BINS = 16;

/** Mean share of a cell's pixels that must have changed their brightness class. Talking and gestures stay below 0.2. */
const CUT_DIFFERENCE = 0.45;

/** Every 4th pixel of every 4th row is enough for a histogram. */
const SAMPLING = 4;

/**
 * Tells the first frame of each shot: its brightness histograms, one per cell of a 4×4 grid, differ from those of the
 * frame before. Returns a function to be called with every frame in order; true on the very first.
 */
export function createCutDetector(): (picture: RgbPicture) => boolean {
  let previous: Float32Array | null = null;
  return (picture) => {
    const current = histograms(picture);
    const isCut = previous === null || difference(previous, current) > CUT_DIFFERENCE;
    previous = current;
    return isCut;
  };
}

/** Shares of the cells' pixels per brightness class; each cell's 16 values add up to 1. */
function histograms({ width, height, data }: RgbPicture): Float32Array {
  const counts = new Float32Array(GRID * GRID * BINS);
  const totals = new Float32Array(GRID * GRID);
  for (let y = 0; y < height; y += SAMPLING) {
    const cellRow = Math.floor((y * GRID) / height) * GRID;
    for (let x = 0; x < width; x += SAMPLING) {
      const pixel = (y * width + x) * 3;
      const luma = ((data[pixel] ?? 0) + 2 * (data[pixel + 1] ?? 0) + (data[pixel + 2] ?? 0)) >> 2;
      const cell = cellRow + Math.floor((x * GRID) / width);
      const bin = cell * BINS + (luma >> 4);
      counts[bin] = (counts[bin] ?? 0) + 1;
      totals[cell] = (totals[cell] ?? 0) + 1;
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
