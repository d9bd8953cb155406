import { axisTicks, timeTicks } from './axis-ticks';
import { formatValue } from './format-value';
import { escapeMarkup } from './markup';
import { type TimeRange } from './time-range';

/** The plotting area of a chart, and where a value lies in it. */
export interface ChartFrame {
  readonly x: (seconds: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Of the whole drawing. */
  readonly width: number;
}

/** A panel of the dashboard's 24 columns is drawn so wide: letters are then as large in all panels. */
export const COLUMN_WIDTH = 65;
const CHART_HEIGHT = 190;
const MARGIN = { left: 58, right: 8, top: 8, bottom: 20 };

export function chartFrame(range: TimeRange, low: number, high: number, columns: number): ChartFrame {
  const { left, top } = MARGIN;
  const width = columns * COLUMN_WIDTH;
  const right = width - MARGIN.right;
  const bottom = CHART_HEIGHT - MARGIN.bottom;
  const seconds = range.to - range.from;
  return {
    ...{ left, right, top, bottom, width },
    x: (at) => left + ((at - range.from) / seconds) * (right - left),
    y: (value) => bottom - ((value - low) / (high - low)) * (bottom - top),
  };
}

/** Grid and time axis; the value axis if there are values to read off. */
export function drawAxes(
  frame: ChartFrame,
  range: TimeRange,
  values?: { low: number; high: number; unit: string },
): string {
  const lines = [];
  for (const { at, label } of timeTicks(range.from, range.to, frame.width / 85)) {
    const x = frame.x(at).toFixed(1);
    lines.push(
      `<line class="grid" x1="${x}" x2="${x}" y1="${frame.top}" y2="${frame.bottom}"/>`,
      `<text class="tick" x="${x}" y="${frame.bottom + 14}" text-anchor="middle">${label}</text>`,
    );
  }
  if (values)
    for (const tick of roundValues(values)) {
      const y = frame.y(tick).toFixed(1);
      lines.push(
        `<line class="grid" x1="${frame.left}" x2="${frame.right}" y1="${y}" y2="${y}"/>`,
        `<text class="tick" x="${frame.left - 5}" y="${Number(y) + 3.5}" text-anchor="end">${escapeMarkup(formatValue(tick, values.unit))}</text>`,
      );
    }
  return lines.join('');
}

/** Bytes are round in powers of 1024. */
function roundValues({ low, high, unit }: { low: number; high: number; unit: string }): number[] {
  const scale = unit === 'bytes' ? 1024 ** Math.floor(Math.log(Math.max(1, high)) / Math.log(1024)) : 1;
  return axisTicks(low / scale, high / scale, 4).map((tick) => tick * scale);
}

export function svg({ width }: ChartFrame, content: string): string {
  return `<svg viewBox="0 0 ${width} ${CHART_HEIGHT}" role="img">${content}</svg>`;
}
