import { type Markup, markup } from '../charts/markup';
import { type FieldDefaults } from './dashboard-file';
import { formatValue } from './format-value';
import { finite, lastOf, type NamedSeries } from './panel-data';

const COLOURS: Readonly<Record<string, string>> = { green: '#1a7f37', orange: '#bc6c00', red: '#c62828' };

/** The last value, in the colour of its threshold, above a line of its history. */
export function drawStat(series: readonly NamedSeries[], defaults: FieldDefaults): Markup {
  const values = series[0]?.values ?? [];
  const value = lastOf(values);
  const reached = (defaults.thresholds?.steps ?? []).filter(
    (step) => step.value === null || value >= step.value,
  );
  const colour = COLOURS[reached.at(-1)?.color ?? ''] ?? '#333333';
  const text = formatValue(value, defaults.unit, defaults.decimals);
  return markup`<p class="stat" style="color:${colour}">${text}</p>${sparkline(values, colour)}`;
}

function sparkline(values: readonly number[], colour: string): Markup | null {
  const known = finite(values);
  if (known.length < 2) return null;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const points = values.flatMap((value, index) =>
    Number.isFinite(value)
      ? [
          `${((index / (values.length - 1)) * 100).toFixed(1)},${(22 - (high > low ? (value - low) / (high - low) : 0.5) * 20).toFixed(1)}`,
        ]
      : [],
  );
  return markup`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none"><polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-opacity="0.5" vector-effect="non-scaling-stroke"/></svg>`;
}
