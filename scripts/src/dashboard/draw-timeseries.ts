import { type Markup, markup } from '../charts/markup';
import { colourAt } from '../charts/palette';
import { type Plot } from '../charts/plot';
import { type FieldDefaults } from './dashboard-file';
import { formatValue } from './format-value';
import { finite, lastOf, type NamedSeries } from './panel-data';
import { pointsOf } from './prometheus-client';
import { svg, timePlot } from './time-plot';
import { type TimeRange } from './time-range';
import { valueScale } from './value-scale';

const LEGEND_ROWS = 12;

/** Lines (or stacked areas) over time with a legend of mean, maximum and last value. */
export function drawTimeseries(
  series: readonly NamedSeries[],
  defaults: FieldDefaults,
  range: TimeRange,
  columns: number,
): Markup {
  const stacked = defaults.custom?.stacking?.mode === 'normal';
  const unit = defaults.unit ?? 'short';
  const layers = stacked ? stack(series) : series.map(({ values }) => ({ bottom: null, top: values }));
  const reached = finite(layers.flatMap(({ top }) => [...top]));
  const limit = thresholdOf(defaults);
  const low = defaults.min ?? Math.min(0, ...reached);
  // A distant limit would only flatten the lines.
  const near = limit !== null && limit < 2 * Math.max(...reached, 0) ? [limit] : [];
  const highest = defaults.max ?? Math.max(...reached, ...near, 0) * 1.05;
  // If all values are 0, the line lies at the bottom of an axis from 0 to 1.
  const high = highest > low ? highest : low + 1;
  const plot = timePlot(range, valueScale(low, high, unit), columns);
  const at = pointsOf(range);
  const paths = layers.map(({ bottom, top }, index) => {
    const colour = colourAt(index);
    const area =
      bottom && markup`<path d="${areaPath(plot, at, bottom, top)}" fill="${colour}" fill-opacity="0.35"/>`;
    return markup`${area}<path d="${linePath(plot, at, top)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
  });
  const line =
    limit !== null && limit <= high
      ? markup`<line class="limit" x1="${plot.left}" x2="${plot.right}" y1="${plot.y(limit)}" y2="${plot.y(limit)}"/>`
      : null;
  return markup`${svg(plot, markup`${paths}${line}`)}${legend(series, unit)}`;
}

function thresholdOf({ custom, thresholds }: FieldDefaults): number | null {
  if (custom?.thresholdsStyle === undefined) return null;
  return thresholds?.steps.find(({ value }) => value !== null)?.value ?? null;
}

/** Stacks each series on top of the previous ones; missing values add nothing. */
function stack(series: readonly NamedSeries[]): { bottom: number[]; top: number[] }[] {
  let below = new Array<number>(series[0]?.values.length ?? 0).fill(0);
  return series.map(({ values }) => {
    const bottom = below;
    below = values.map((value, index) => (bottom[index] ?? 0) + (Number.isFinite(value) ? value : 0));
    return { bottom, top: below };
  });
}

/** A path that is interrupted where values are missing; a single point becomes a short line. */
function linePath({ x, y }: Plot, at: readonly number[], values: readonly number[]): string {
  let drawing = false;
  return values
    .map((value, index) => {
      if (!Number.isFinite(value)) {
        drawing = false;
        return '';
      }
      const point = `${x(at[index] ?? 0)} ${y(value)}`;
      const command = drawing ? `L${point}` : `M${point}h0.8`;
      drawing = true;
      return command;
    })
    .join('');
}

function areaPath(
  { x, y }: Plot,
  at: readonly number[],
  bottom: readonly number[],
  top: readonly number[],
): string {
  const corner = (values: readonly number[]) => (seconds: number, index: number) =>
    `${x(seconds)} ${y(values[index] ?? 0)}`;
  const there = at.map(corner(top));
  const back = at.map(corner(bottom)).reverse();
  return `M${[...there, ...back].join('L')}Z`;
}

function legend(series: readonly NamedSeries[], unit: string): Markup {
  const rows = series.slice(0, LEGEND_ROWS).map(({ name, values }, index) => {
    const known = finite(values);
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const cells = [mean, Math.max(...known), lastOf(values)].map(
      (value) => markup`<td>${formatValue(value, unit)}</td>`,
    );
    return markup`<tr><th><i style="background:${colourAt(index)}"></i>${name}</th>${cells}</tr>`;
  });
  const more =
    series.length > LEGEND_ROWS
      ? markup`<tr><th>and ${series.length - LEGEND_ROWS} more</th><td></td><td></td><td></td></tr>`
      : null;
  return markup`<table><thead><tr><th></th><td>mean</td><td>max</td><td>last</td></tr></thead>${rows}${more}</table>`;
}
