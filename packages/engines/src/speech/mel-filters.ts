import { BIN_COUNT } from './power-spectrum';

export const MEL_BANDS = 80;
const BIN_HZ = 40;
const TOP_HZ = 8000;

/** One triangular filter: weights for the bins from `firstBin` on. */
export interface MelFilter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

/** Whisper's 80 filters: Slaney's mel scale (linear below 1 kHz, logarithmic above) and area normalisation. */
export function melFilters(): MelFilter[] {
  const edges = melEdges();
  return Array.from({ length: MEL_BANDS }, (_, band) => {
    const [low = 0, centre = 0, high = 0] = edges.slice(band, band + 3);
    const weight = (bin: number): number => {
      const hertz = bin * BIN_HZ;
      const slope = Math.min((hertz - low) / (centre - low), (high - hertz) / (high - centre));
      return (Math.max(0, slope) * 2) / (high - low);
    };
    const bins = Array.from({ length: BIN_COUNT }, (_, bin) => bin).filter((bin) => weight(bin) > 0);
    return { firstBin: bins[0] ?? 0, weights: Float64Array.from(bins, weight) };
  });
}

/** The corners of the triangles in Hz: band i rises from edge i to edge i+1 and falls to edge i+2. */
export function melEdges(): number[] {
  const top = hertzToMel(TOP_HZ);
  return Array.from({ length: MEL_BANDS + 2 }, (_, i) => melToHertz((top * i) / (MEL_BANDS + 1)));
}

function hertzToMel(hertz: number): number {
  return hertz < 1000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4);
}

function melToHertz(mel: number): number {
  return mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((Math.log(6.4) * (mel - 15)) / 27);
}
