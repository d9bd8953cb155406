import { type Box } from '@lipsync/kernels';
import { LANDMARK_VALUES } from './landmarks68';

/** Converts the 68 points at `points[at…]` to pixels of a crop, `box` stretched to `side` × `side`, and writes them. */
export function writeCropLandmarks(
  points: Float32Array,
  at: number,
  { x1, y1, x2, y2 }: Box,
  side: number,
  target: Float32Array,
  offset: number,
): void {
  for (let i = 0; i < LANDMARK_VALUES; i += 2) {
    target[offset + i] = (((points[at + i] ?? 0) - x1) / (x2 - x1)) * side;
    target[offset + i + 1] = (((points[at + i + 1] ?? 0) - y1) / (y2 - y1)) * side;
  }
}
