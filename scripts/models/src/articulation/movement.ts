import { mean, quantile } from '@lipsync/local-stack';
import { dot, found, middleOf, openings, type Readings } from './figures';

/** The share of all movement of the mouth's points that lies along one axis of their space; NaN if nothing moves. */
export function firstAxisShare(readings: Readings): number {
  const rows = found(readings).map(({ points }) => points);
  const size = rows[0]?.length ?? 0;
  const center = Array.from({ length: size }, (_, k) => mean(rows.map((row) => row[k] ?? 0)));
  const centered = rows.map((row) => row.map((value, k) => value - (center[k] ?? 0)));
  const total = centered.reduce((sum, row) => sum + dot(row, row), 0);
  // Power iteration, from the row that is furthest out.
  let axis = centered.reduce<readonly number[]>(
    (furthest, row) => (dot(row, row) > dot(furthest, furthest) ? row : furthest),
    [],
  );
  let along = 0;
  for (let round = 0; round < 100; round++) {
    const norm = Math.sqrt(dot(axis, axis));
    const unit = axis.map((value) => value / norm);
    const scores = centered.map((row) => dot(row, unit));
    along = dot(scores, scores);
    axis = unit.map((_, k) => centered.reduce((sum, row, i) => sum + (scores[i] ?? 0) * (row[k] ?? 0), 0));
  }
  return along / total;
}

/** Range of the mouth's width over its mean, without the twentieth at either end. */
export function widthRange(readings: Readings): number {
  const widths = found(readings).map(({ width }) => width);
  return (quantile(widths, 0.95) - quantile(widths, 0.05)) / mean(widths);
}

/** Over so many seconds a speed is measured at every rate: over less, the landmarks' noise would count for more. */
const SPEED_SECONDS = 0.04;

/** Mean speed of the opening, in eye distances per second. */
export function openingSpeed(readings: Readings): number {
  const changes = readings.flatMap((reading, i) => {
    if (reading === null) return [];
    const later = openingAt(readings, i, middleOf(reading) + SPEED_SECONDS);
    return later === null ? [] : [Math.abs(later - reading.opening)];
  });
  return mean(changes) / SPEED_SECONDS;
}

/** The opening at a time after a reading, between the two readings around it; null where one of them is missing. */
function openingAt(readings: Readings, first: number, seconds: number): number | null {
  for (let i = first; ; i++) {
    const [before, after] = [readings[i], readings[i + 1]];
    if (!before || !after) return null;
    const [start, end] = [middleOf(before), middleOf(after)];
    const part = (seconds - start) / (end - start);
    if (part <= 1 + ROUNDING) return before.opening + part * (after.opening - before.opening);
  }
}

/** Absorbs what floating point adds to the share of the time between two readings. */
const ROUNDING = 1e-6;

/** A mouth whose opening spans less than this does not talk: eye distances. */
const TALKING_RANGE = 0.04;

/** The opening that a twentieth of the frames exceeds, if the mouth talks in them. */
export function ownAmplitude(readings: Readings): number | null {
  const values = openings(readings);
  const open = quantile(values, 0.95);
  return open - quantile(values, 0.05) < TALKING_RANGE ? null : open;
}
