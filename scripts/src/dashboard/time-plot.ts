import { type Markup, markup } from '../charts/markup';
import { createPlot, type Plot } from '../charts/plot';
import { type Scale } from '../charts/scale';
import { clockScale } from './clock-scale';
import { type TimeRange } from './time-range';

/** Width of one of the dashboard's 24 columns: it makes letters equally large in all panels. */
const COLUMN_WIDTH = 65;
const HEIGHT = 196;
/** Distance between two ticks on the axis. */
const TICK_WIDTH = 85;

/** A plot of values over time, in a panel of this many columns. */
export function timePlot(range: TimeRange, y: Scale, columns: number): Plot {
  const width = columns * COLUMN_WIDTH;
  return createPlot({ width, height: HEIGHT, x: clockScale(range, width / TICK_WIDTH), y });
}

export function svg({ viewBox, grid }: Plot, content: Markup): Markup {
  return markup`<svg viewBox="${viewBox}" role="img">${grid}${content}</svg>`;
}
