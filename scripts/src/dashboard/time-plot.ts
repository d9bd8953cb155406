import { type Markup, markup } from '../charts/markup';
import { createPlot, type Plot } from '../charts/plot';
import { type Scale } from '../charts/scale';
import { clockScale } from './clock-scale';
import { type TimeRange } from './time-range';

/** A panel of the dashboard's 24 columns is drawn so wide: letters are then as large in all panels. */
const COLUMN_WIDTH = 65;
const HEIGHT = 196;
/** Between two instants on the axis. */
const TICK_WIDTH = 85;

/** Values over time, in a panel of so many columns. */
export function timePlot(range: TimeRange, y: Scale, columns: number): Plot {
  const width = columns * COLUMN_WIDTH;
  return createPlot({ width, height: HEIGHT, x: clockScale(range, width / TICK_WIDTH), y });
}

export function svg({ viewBox, grid }: Plot, content: Markup): Markup {
  return markup`<svg viewBox="${viewBox}" role="img">${grid}${content}</svg>`;
}
