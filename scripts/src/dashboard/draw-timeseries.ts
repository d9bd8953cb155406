import { chartFrame, type ChartFrame, drawAxes, svg } from './chart-frame';
import { type FieldDefaults } from './dashboard-file';
import { formatValue } from './format-value';
import { escapeMarkup } from './markup';
import { finite, lastOf, type NamedSeries } from './panel-data';
import { pointsOf } from './prometheus-client';
import { type TimeRange } from './time-range';

/** Paul Tol's bright and muted schemes: told apart by the colour-blind as well. */
const COLOURS = [
  ...['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377'],
  ...['#332288', '#88ccee', '#44aa99', '#117733', '#999933', '#ddcc77', '#cc6677', '#882255'],
];
const colour = (index: number): string => COLOURS[index % COLOURS.length] ?? '#888888';
const LEGEND_ROWS = 12;

/** Lines (or stacked areas) over time with a legend of mean, maximum and last value. */
export function drawTimeseries(
  series: readonly NamedSeries[],
  defaults: FieldDefaults,
  range: TimeRange,
  columns: number,
): string {
  const stacked = defaults.custom?.stacking?.mode === 'normal';
  const unit = defaults.unit ?? 'short';
  const layers = stacked ? stack(series) : series.map(({ values }) => ({ bottom: null, top: values }));
  const reached = finite(layers.flatMap(({ top }) => [...top]));
  const limit = thresholdOf(defaults);
  const low = defaults.min ?? Math.min(0, ...reached);
  // A limit that is far away is not worth flattening the lines for.
  const near = limit !== null && limit < 2 * Math.max(...reached, 0) ? [limit] : [];
  const highest = defaults.max ?? Math.max(...reached, ...near, 0) * 1.05;
  // Where everything is 0 the line lies on the ground of an axis that says something.
  const high = highest > low ? highest : low + 1;
  const frame = chartFrame(range, low, high, columns);
  const at = pointsOf(range);
  const paths = layers.map(({ bottom, top }, index) => {
    const area = bottom ? areaPath(frame, at, bottom, top) : '';
    const filled = area === '' ? '' : `<path d="${area}" fill="${colour(index)}" fill-opacity="0.35"/>`;
    return `${filled}<path d="${linePath(frame, at, top)}" fill="none" stroke="${colour(index)}" stroke-width="1.5"/>`;
  });
  const line =
    limit !== null && limit <= high
      ? `<line class="limit" x1="${frame.left}" x2="${frame.right}" y1="${frame.y(limit)}" y2="${frame.y(limit)}"/>`
      : '';
  return (
    svg(frame, drawAxes(frame, range, { low, high, unit }) + paths.join('') + line) + legend(series, unit)
  );
}

function thresholdOf({ custom, thresholds }: FieldDefaults): number | null {
  if (custom?.thresholdsStyle === undefined) return null;
  return thresholds?.steps.find(({ value }) => value !== null)?.value ?? null;
}

/** Each series on top of those before it; what has no value there adds nothing. */
function stack(series: readonly NamedSeries[]): { bottom: number[]; top: number[] }[] {
  let below = new Array<number>(series[0]?.values.length ?? 0).fill(0);
  return series.map(({ values }) => {
    const bottom = below;
    below = values.map((value, index) => (bottom[index] ?? 0) + (Number.isFinite(value) ? value : 0));
    return { bottom, top: below };
  });
}

/** A path that is interrupted where there is no value; a single point becomes a short line. */
function linePath({ x, y }: ChartFrame, at: readonly number[], values: readonly number[]): string {
  let drawing = false;
  return values
    .map((value, index) => {
      if (!Number.isFinite(value)) {
        drawing = false;
        return '';
      }
      const px = x(at[index] ?? 0).toFixed(1);
      const command = drawing ? `L${px} ${y(value).toFixed(1)}` : `M${px} ${y(value).toFixed(1)}h0.8`;
      drawing = true;
      return command;
    })
    .join('');
}

function areaPath(
  { x, y }: ChartFrame,
  at: readonly number[],
  bottom: readonly number[],
  top: readonly number[],
): string {
  const corner = (values: readonly number[]) => (seconds: number, index: number) =>
    `${x(seconds).toFixed(1)} ${y(values[index] ?? 0).toFixed(1)}`;
  const there = at.map(corner(top));
  const back = at.map(corner(bottom)).reverse();
  return `M${[...there, ...back].join('L')}Z`;
}

function legend(series: readonly NamedSeries[], unit: string): string {
  const rows = series.slice(0, LEGEND_ROWS).map(({ name, values }, index) => {
    const known = finite(values);
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const cells = [mean, Math.max(...known), lastOf(values)].map(
      (value) => `<td>${escapeMarkup(formatValue(value, unit))}</td>`,
    );
    return `<tr><th><i style="background:${colour(index)}"></i>${escapeMarkup(name)}</th>${cells.join('')}</tr>`;
  });
  const more =
    series.length > LEGEND_ROWS
      ? `<tr><th>and ${series.length - LEGEND_ROWS} more</th><td></td><td></td><td></td></tr>`
      : '';
  return `<table><thead><tr><th></th><td>mean</td><td>max</td><td>last</td></tr></thead>${rows.join('')}${more}</table>`;
}
