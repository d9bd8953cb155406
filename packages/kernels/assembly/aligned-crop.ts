import { sampleRow } from './sample-row';

/**
 * Resamples planes whose samples have this many bytes, `apart` bytes apart, to float32 squares of `side` in 8-bit codes
 * at `target`, `targetApart` bytes apart; see `sampleRow`.
 */
export function sampleSquare(
  sampleBytes: i32,
  plane: usize,
  planes: i32,
  apart: usize,
  sampling: usize,
  side: i32,
  target: usize,
  targetApart: usize,
): void {
  for (let row = 0; row < side; row++) {
    if (sampleBytes === 1) {
      sampleRow<u8>(plane, planes, apart, sampling, 0, row, side, target, targetApart, 0, 0);
    } else {
      sampleRow<u16>(plane, planes, apart, sampling, 0, row, side, target, targetApart, 0, 0);
    }
    target += (<usize>side) << 2;
  }
}
