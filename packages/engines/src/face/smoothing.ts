/** Runs of frames with a face inside one shot. Nothing is ever smoothed across their borders. */
export function faceRuns(found: Uint8Array, cuts: Uint8Array): Run[] {
  return connectedRuns(
    found.length,
    (frame) => found[frame] === 1,
    (frame) => cuts[frame] !== 1,
  );
}

/** Frames before and after a frame that its smoothed value depends on. Weights beyond 3 sigma are negligible. */
export function smoothingReach(sigma: number): number {
  return Math.ceil(3 * sigma);
}

/**
 * Smooths channels `first`…`last` (exclusive) of a row-per-frame table within one run, in place. Around every frame a
 * straight line is fitted with Gaussian weights of `sigma` frames, and its value at the frame is used. Since it uses
 * frames in both directions, it has no lag, a steady motion passes unchanged, and the ends of a run need no special
 * case.
 */
export function smoothRun(
  table: Float32Array,
  width: number,
  run: Run,
  channels: { readonly first: number; readonly last: number },
  sigma: number,
): void {
  const reach = smoothingReach(sigma);
  const weights = Float64Array.from({ length: reach + 1 }, (_, d) =>
    Math.exp((-d * d) / (2 * sigma * sigma)),
  );
  const column = new Float64Array(run.end - run.start);
  for (let channel = channels.first; channel < channels.last; channel++) {
    for (let i = 0; i < column.length; i++) column[i] = table[(run.start + i) * width + channel] ?? 0;
    for (let i = 0; i < column.length; i++) {
      table[(run.start + i) * width + channel] = localLine(column, i, weights);
    }
  }
}

/** Value at `center` of the weighted least-squares line through its neighbors. */
function localLine(column: Float64Array, center: number, weights: Float64Array): number {
  const reach = weights.length - 1;
  const from = Math.max(0, center - reach);
  const to = Math.min(column.length - 1, center + reach);
  let w0 = 0;
  let w1 = 0;
  let w2 = 0;
  let y0 = 0;
  let y1 = 0;
  for (let i = from; i <= to; i++) {
    const d = i - center;
    const weight = weights[Math.abs(d)] ?? 0;
    const y = column[i] ?? 0;
    w0 += weight;
    w1 += weight * d;
    w2 += weight * d * d;
    y0 += weight * y;
    y1 += weight * d * y;
  }
  const determinant = w0 * w2 - w1 * w1;
  return determinant > 1e-9 ? (y0 * w2 - y1 * w1) / determinant : y0 / w0;
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
