import { type Markup, markup } from '../charts/markup';
import { evenScale } from '../charts/scale';
import { formatValue } from './format-value';
import { pointsOf, type Series } from './prometheus-client';
import { svg, timePlot } from './time-plot';
import { type TimeRange } from './time-range';

/** The number of observations in each bucket of a histogram over time; darker means more. */
export function drawHeatmap(
  series: readonly Series[],
  unit: string,
  range: TimeRange,
  columns: number,
): Markup {
  const buckets = ownCounts(series);
  const largest = Math.max(0, ...buckets.flatMap(({ values }) => values.filter(Number.isFinite)));
  const bounds = buckets
    .map(({ upTo }, row) => ({ value: row + 1, label: formatValue(upTo, unit) }))
    .filter((_, row) => row % 2 === 0);
  const plot = timePlot(range, evenScale(0, Math.max(1, buckets.length), bounds), columns);
  const at = pointsOf(range);
  const cell = (value: number, row: number, seconds: number): Markup => {
    const [left, right] = [plot.x(seconds - range.step / 2), plot.x(seconds + range.step / 2)];
    const [top, bottom] = [plot.y(row + 1), plot.y(row)];
    // The square root keeps the few slow ones visible beside the many fast ones.
    const strength = (0.08 + 0.92 * Math.sqrt(value / largest)).toFixed(2);
    return markup`<rect x="${left}" y="${top}" width="${(right - left).toFixed(1)}" height="${(bottom - top).toFixed(1)}" fill="#d94801" fill-opacity="${strength}"/>`;
  };
  const cells = buckets.flatMap(({ values }, row) =>
    values.flatMap((value, index) => (value > 0 ? [cell(value, row, at[index] ?? 0)] : [])),
  );
  return markup`${svg(plot, markup`${cells}`)}<p class="note">darkest: ${formatValue(largest)} in ${formatValue(range.step, 's')}</p>`;
}

/** Converts cumulative buckets (`le`) to counts per bucket, in ascending order. */
function ownCounts(series: readonly Series[]): { upTo: number; values: number[] }[] {
  const cumulative = series
    .map(({ labels, values }) => ({ upTo: Number((labels['le'] ?? '').replace('Inf', 'Infinity')), values }))
    .sort((a, b) => a.upTo - b.upTo);
  return cumulative.map(({ upTo, values }, row) => ({
    upTo,
    values: values.map((value, index) => Math.max(0, value - (cumulative[row - 1]?.values[index] ?? 0))),
  }));
}
