import { secondsAt } from '@lipsync/domain';
import { type FaceTrack } from './face-track';

/** Runs of frames with a face inside one shot. Nothing is ever smoothed across their borders. */
export function faceRuns(found: Uint8Array, cuts: Uint8Array): Run[] {
  return connectedRuns(
    found.length,
    (frame) => found[frame] === 1,
    (frame) => cuts[frame] !== 1,
  );
}

/**
 * Seconds before and after a frame that its smoothed value depends on, in twentieths. Weights beyond 3 sigma are
 * negligible.
 */
export function smoothingReach(sigma: number): number {
  return Math.ceil(3 * sigma * 20) / 20;
}

/**
 * Smooths channels `first`…`last` (exclusive) of a row-per-frame table within one run, in place. Around every frame a
 * straight line is fitted with Gaussian weights of `sigma` seconds, and its value at the frame is used. Since it uses
 * frames in both directions, it has no lag, a steady motion passes unchanged at any rate, and the ends of a run need no
 * special case. A picture counts once, when it appears: the frames that hold it get its row.
 */
export function smoothRun(
  table: Float32Array,
  width: number,
  run: Run,
  { first, last }: { readonly first: number; readonly last: number },
  sigma: number,
  { clock, held }: Pick<FaceTrack, 'clock' | 'held'>,
): void {
  const columns = last - first;
  const rowOf = (frame: number): Float32Array => table.subarray(frame * width + first, frame * width + last);
  const pictures = Array.from({ length: run.end - run.start }, (_, i) => run.start + i).filter(
    (frame) => frame === run.start || held[frame] !== 1,
  );
  const measured = new Float32Array(pictures.length * columns);
  pictures.forEach((frame, i) => measured.set(rowOf(frame), i * columns));
  const sums = new Float64Array(columns);
  const reach = smoothingReach(sigma) + ROUNDING;
  const secondsOf = (i: number): number => secondsAt(clock, pictures[i] ?? -1);
  let from = 0;
  let to = 0;
  pictures.forEach((frame, center) => {
    const seconds = secondsOf(center);
    while (secondsOf(from) < seconds - reach) from++;
    while (to < pictures.length && secondsOf(to) <= seconds + reach) to++;
    const weights = lineWeights(
      Array.from({ length: to - from }, (_, i) => (secondsOf(from + i) - seconds) / sigma),
    );
    sums.fill(0);
    weights.forEach((weight, i) => {
      const start = (from + i) * columns;
      for (let k = 0; k < columns; k++) sums[k] = (sums[k] ?? 0) + weight * (measured[start + k] ?? 0);
    });
    rowOf(frame).set(sums);
  });
  for (let frame = run.start + 1; frame < run.end; frame++) {
    if (held[frame] === 1) rowOf(frame).set(rowOf(frame - 1));
  }
}

/** Absorbs what floating point takes from a difference between the times of two frames. */
const ROUNDING = 1e-9;

/**
 * The weights of values at these distances in the value at 0 of their straight line, which is fitted by weighted least
 * squares. Distances are in standard deviations of the Gaussian that weighs them.
 */
function lineWeights(distances: readonly number[]): number[] {
  const weights = distances.map((distance) => Math.exp((-distance * distance) / 2));
  let w0 = 0;
  let w1 = 0;
  let w2 = 0;
  distances.forEach((distance, i) => {
    const weight = weights[i] ?? 0;
    w0 += weight;
    w1 += weight * distance;
    w2 += weight * distance * distance;
  });
  const determinant = w0 * w2 - w1 * w1;
  if (determinant <= 1e-9) return weights.map((weight) => weight / w0);
  return weights.map((weight, i) => (weight * (w2 - w1 * (distances[i] ?? 0))) / determinant);
}

/** Consecutive frames that belong together: `start` inclusive, `end` exclusive. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The runs of those of `count` frames that are present. A frame that does not continue the previous one begins a new
 * run.
 */
export function connectedRuns(
  count: number,
  present: (frame: number) => boolean,
  continues: (frame: number) => boolean,
): Run[] {
  const runs: Run[] = [];
  let start: number | undefined;
  for (let frame = 0; frame <= count; frame++) {
    const here = frame < count && present(frame);
    if (start !== undefined && here && continues(frame)) continue;
    if (start !== undefined) runs.push({ start, end: frame });
    start = here ? frame : undefined;
  }
  return runs;
}
