import { type Markup, markup } from './markup';
import { type Scale } from './scale';

export interface Line {
  readonly label: string;
  readonly colour: string;
  /** Rising in x. Where there is no y the line breaks off. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
  /**
   * `step-after`: from a point on its y holds, as a share of values does along their axis. `step-before`: up to a point
   * its y holds, as a value does for the shares that do not exceed it.
   */
  readonly style?: 'dashed' | 'filled' | 'step-after' | 'step-before';
}

/** A stretch of the x axis that means something: a warm-up, the time after the last arrival. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

export interface LineChart {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: Scale;
  readonly y: Scale;
  readonly lines: readonly Line[];
  readonly bands?: readonly Band[];
  /** What a point is called when the pointer rests on it; without it points have no names. */
  readonly name?: (line: Line, x: number, y: number) => string;
  readonly height?: number;
  /** Over the whole page instead of half of it. */
  readonly isWide?: boolean;
}

const WIDTH = 560;
/** So that letters are as large as in two charts side by side. */
const WIDE = 1150;
const HEIGHT = 230;
const MARGIN = { left: 56, right: 14, top: 10, bottom: 26 } as const;
/** How wide a letter of a tick is, about. */
const LETTER = 6.5;
/** More would make the page heavy, and no pointer could tell them apart. */
const MAX_NAMED_POINTS = 160;

/** An SVG of its own, with title and legend as text beside it. */
export function lineChart(chart: LineChart): Markup {
  const { title, subtitle, x, y, lines, bands = [], name, height = HEIGHT, isWide = false } = chart;
  const width = isWide ? WIDE : WIDTH;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const atX = (value: number): number => round(MARGIN.left + x.position(value) * inner.width);
  const atY = (value: number): number => round(MARGIN.top + (1 - y.position(value)) * inner.height);
  const bottom = MARGIN.top + inner.height;
  const right = MARGIN.left + inner.width;

  const shade = bands.map(
    ({ from, to, label }) =>
      markup`<g><rect class="band" x="${atX(from)}" y="${MARGIN.top}" width="${round(
        atX(to) - atX(from),
      )}" height="${inner.height}"/><text class="band-label" x="${atX(from) + 5}" y="${MARGIN.top + 12}">${
        atX(to) - atX(from) > label.length * 6 ? label : ''
      }</text></g>`,
  );
  const rows = y.ticks.map(
    ({ value, label, minor }) =>
      markup`<line class="${minor === true ? 'grid minor' : 'grid'}" x1="${MARGIN.left}" x2="${right}" y1="${atY(value)}" y2="${atY(
        value,
      )}"/><text class="tick" text-anchor="end" x="${MARGIN.left - 7}" y="${atY(value) + 3.5}">${label}</text>`,
  );
  const columns = x.ticks.map(
    ({ value, label, minor }) =>
      markup`<line class="${minor === true ? 'grid minor' : 'grid'}" x1="${atX(value)}" x2="${atX(value)}" y1="${MARGIN.top}" y2="${bottom}"/>${columnLabel(
        label,
        atX(value),
      )}`,
  );
  function columnLabel(text: string, middle: number): Markup {
    const room = width - middle;
    // In the middle it would be cut off at the edge of the picture.
    const reach = room < (text.length * LETTER) / 2 ? { anchor: 'end', at: width - 1 } : null;
    return markup`<text class="tick" text-anchor="${reach?.anchor ?? 'middle'}" x="${reach?.at ?? middle}" y="${
      bottom + 16
    }">${text}</text>`;
  }
  const drawn = lines.flatMap((line) =>
    stretchesOf(line).map((points) => {
      const path = pathOf(points, line.style, atX, atY);
      const [first, second] = points;
      const fill =
        line.style === 'filled'
          ? markup`<path d="${path} L${atX(points.at(-1)?.[0] ?? 0)},${bottom} L${atX(
              first?.[0] ?? 0,
            )},${bottom} Z" fill="${line.colour}" fill-opacity="0.12"/>`
          : null;
      // A line of one point would be invisible.
      const dot =
        first !== undefined && second === undefined
          ? markup`<circle cx="${atX(first[0])}" cy="${atY(first[1])}" r="3" fill="${line.colour}"/>`
          : null;
      return markup`${fill}<path d="${path}" fill="none" stroke="${line.colour}" stroke-width="1.8" stroke-linejoin="round"${
        line.style === 'dashed' ? markup` stroke-dasharray="5 4"` : null
      }/>${dot}`;
    }),
  );
  const named =
    name === undefined
      ? []
      : lines
          .filter(({ points }) => points.length <= MAX_NAMED_POINTS)
          .flatMap((line) =>
            stretchesOf(line)
              .flat()
              .map(
                ([px, py]) =>
                  markup`<circle class="hit" cx="${atX(px)}" cy="${atY(py)}" r="5" fill="${line.colour}"><title>${name(line, px, py)}</title></circle>`,
              ),
          );
  return markup`<figure class="chart"><figcaption><strong>${title}</strong>${
    subtitle === undefined ? null : markup`<span>${subtitle}</span>`
  }</figcaption>${legend(lines)}<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${shade}${rows}${columns}<line class="axis" x1="${MARGIN.left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>${drawn}${named}</svg></figure>`;
}

function legend(lines: readonly Line[]): Markup {
  return markup`<div class="legend">${lines.map(
    ({ label, colour, style }) =>
      markup`<span><i class="${style === 'dashed' ? 'dashed' : 'solid'}" style="color:${colour}"></i>${label}</span>`,
  )}</div>`;
}

type Point = readonly [x: number, y: number];

/** What of a line is drawn without a break. */
function stretchesOf({ points }: Line): Point[][] {
  const stretches: Point[][] = [];
  let current: Point[] | null = null;
  for (const [px, py] of points) {
    if (py === null) current = null;
    else if (current === null) stretches.push((current = [[px, py]]));
    else current.push([px, py]);
  }
  return stretches;
}

function pathOf(
  points: readonly Point[],
  style: Line['style'],
  atX: (x: number) => number,
  atY: (y: number) => number,
): string {
  return points
    .map(([px, py], i) => {
      if (i === 0) return `M${atX(px)},${atY(py)}`;
      if (style === 'step-after') return `H${atX(px)}V${atY(py)}`;
      if (style === 'step-before') return `V${atY(py)}H${atX(px)}`;
      return `L${atX(px)},${atY(py)}`;
    })
    .join(' ');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
