import { chartFrame, drawAxes, svg } from './chart-frame';
import { formatValue } from './format-value';
import { escapeMarkup } from './markup';
import { pointsOf, type Series } from './prometheus-client';
import { type TimeRange } from './time-range';

/** How many observations fell into each bucket of a histogram over time; the darker, the more. */
export function drawHeatmap(
  series: readonly Series[],
  unit: string,
  range: TimeRange,
  columns: number,
): string {
  const buckets = ownCounts(series);
  const largest = Math.max(0, ...buckets.flatMap(({ values }) => values.filter(Number.isFinite)));
  const frame = chartFrame(range, 0, Math.max(1, buckets.length), columns);
  const at = pointsOf(range);
  const width = (frame.x(range.from + range.step) - frame.x(range.from)).toFixed(2);
  const height = ((frame.bottom - frame.top) / Math.max(1, buckets.length)).toFixed(2);
  const cells = buckets.flatMap(({ values }, row) =>
    values.map((value, index) => {
      if (!(value > 0)) return '';
      // The square root shows the few slow ones beside the many fast ones.
      const strength = (0.08 + 0.92 * Math.sqrt(value / largest)).toFixed(2);
      const x = frame.x((at[index] ?? 0) - range.step / 2).toFixed(1);
      return `<rect x="${x}" y="${frame.y(row + 1).toFixed(1)}" width="${width}" height="${height}" fill="#d94801" fill-opacity="${strength}"/>`;
    }),
  );
  const labels = buckets.map(({ upTo }, row) =>
    row % 2 === 0
      ? `<text class="tick" x="${frame.left - 5}" y="${(frame.y(row + 1) + 3).toFixed(1)}" text-anchor="end">${escapeMarkup(formatValue(upTo, unit))}</text>`
      : '',
  );
  return (
    svg(frame, drawAxes(frame, range) + cells.join('') + labels.join('')) +
    `<p class="note">darkest: ${formatValue(largest)} in ${formatValue(range.step, 's')}</p>`
  );
}

/** Cumulative buckets (`le`) as the counts of their own, from the smallest bound up. */
function ownCounts(series: readonly Series[]): { upTo: number; values: number[] }[] {
  const cumulative = series
    .map(({ labels, values }) => ({ upTo: Number((labels['le'] ?? '').replace('Inf', 'Infinity')), values }))
    .sort((a, b) => a.upTo - b.upTo);
  return cumulative.map(({ upTo, values }, row) => ({
    upTo,
    values: values.map((value, index) => Math.max(0, value - (cumulative[row - 1]?.values[index] ?? 0))),
  }));
}
