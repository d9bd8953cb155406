/** Pixel rectangle; the right and bottom edges are exclusive. */
export interface Box {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Sums the squared luma difference of picture pairs, outside a box that may differ from pair to pair. */
export function createPictureDifference({ width, height }: { width: number; height: number }) {
  let squared = 0;
  let pixels = 0;
  let largest = 0;
  return {
    /**
     * @param a, b planar pictures whose first width × height bytes are luma; @param except area to exclude, null for
     * none
     */
    add(a: Uint8Array, b: Uint8Array, except: Box | null): void {
      for (let y = 0; y < height; y++) {
        const rowHasBox = except !== null && y >= except.y1 && y < except.y2;
        for (let x = 0; x < width; x++) {
          if (rowHasBox && x >= except.x1 && x < except.x2) continue;
          const difference = (a[y * width + x] ?? 0) - (b[y * width + x] ?? 0);
          squared += difference * difference;
          pixels++;
          largest = Math.max(largest, Math.abs(difference));
        }
      }
    },
    /** Peak signal-to-noise ratio in dB over all pairs (infinite when equal), and the largest single difference. */
    result: () => ({ psnrDb: psnr(squared, pixels), largestDifference: largest }),
  };
}

function psnr(squared: number, pixels: number): number {
  return squared === 0 ? Infinity : 10 * Math.log10((255 * 255 * pixels) / squared);
}
