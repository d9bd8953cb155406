import { sampleRow } from './sample-row';

/**
 * Resamples 8-bit planes, `apart` bytes apart, to float32 squares of `side` at `target`, `targetApart` bytes apart; see
 * `sampleRow`.
 */
export function sampleSquare(
  plane: usize,
  planes: i32,
  apart: usize,
  sampling: usize,
  side: i32,
  target: usize,
  targetApart: usize,
): void {
  for (let row = 0; row < side; row++) {
    sampleRow<u8>(plane, planes, apart, sampling, 0, row, side, target, targetApart, 0, 0);
    target += (<usize>side) << 2;
  }
}
