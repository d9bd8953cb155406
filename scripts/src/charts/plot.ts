import { type Markup, markup } from './markup';
import { type Scale } from './scale';
import { type Tick } from './ticks';

/** The plotting area of a drawing, and the positions of values in it. */
export interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  /** Grid lines and labels for the ticks of both axes. */
  readonly grid: Markup;
  /** View box of the whole drawing. */
  readonly viewBox: string;
}

export interface PlotSettings {
  /** Width of the whole drawing. */
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
}

const MARGIN = { left: 62, right: 14, top: 10, bottom: 26 } as const;
/** Approximate width of a letter in a tick label. */
const LETTER = 6.5;

export function createPlot({ width, height, x: xScale, y: yScale }: PlotSettings): Plot {
  const { left, top } = MARGIN;
  const right = width - MARGIN.right;
  const bottom = height - MARGIN.bottom;
  const x = (value: number): number => round(left + xScale.position(value) * (right - left));
  const y = (value: number): number => round(bottom - yScale.position(value) * (bottom - top));

  const row = ({ value, label, minor }: Tick): Markup => {
    const at = y(value);
    const line = markup`<line class="${lineClass(minor)}" x1="${left}" x2="${right}" y1="${at}" y2="${at}"/>`;
    return markup`${line}<text class="tick" text-anchor="end" x="${left - 6}" y="${at + 3.5}">${label}</text>`;
  };
  const column = ({ value, label, minor }: Tick): Markup => {
    const at = x(value);
    const line = markup`<line class="${lineClass(minor)}" x1="${at}" x2="${at}" y1="${top}" y2="${bottom}"/>`;
    // A centred label would be cut off at the edge of the drawing.
    const isCut = width - at < (label.length * LETTER) / 2;
    const [anchor, end] = isCut ? ['end', width - 1] : ['middle', at];
    return markup`${line}<text class="tick" text-anchor="${anchor}" x="${end}" y="${bottom + 16}">${label}</text>`;
  };
  return {
    ...{ left, right, top, bottom, x, y },
    grid: markup`${yScale.ticks.map(row)}${xScale.ticks.map(column)}`,
    viewBox: `0 0 ${width} ${height}`,
  };
}

function lineClass(minor = false): string {
  return minor ? 'grid minor' : 'grid';
}

/** Rounds to what the eye can tell apart; more digits would only bloat the page. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
