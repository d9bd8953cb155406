import { createPlot, type Markup, markup, type Plot, type Scale } from '@lipsync/scripts';

export interface Line {
  readonly label: string;
  readonly colour: string;
  /** Ascending in x. The line is interrupted where y is null. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
  /**
   * `step-after`: y holds from a point on, like a share of values along their axis. `step-before`: y holds up to a
   * point, like a value for the shares that do not exceed it.
   */
  readonly style?: 'dashed' | 'filled' | 'step-after' | 'step-before';
}

/** A marked range of the x axis: a warm-up, the time after the last arrival. */
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
  /** The tooltip of a point; without it points have none. */
  readonly name?: (line: Line, x: number, y: number) => string;
  readonly height?: number;
  /** Takes the whole width of the page instead of half. */
  readonly isWide?: boolean;
}

const WIDTH = 560;
/** Makes letters as large as in two charts side by side. */
const WIDE = 1150;
const HEIGHT = 230;
/** More would bloat the page, and no pointer could hit them separately. */
const MAX_NAMED_POINTS = 160;

/** A standalone SVG, with title and legend as text beside it. */
export function lineChart(chart: LineChart): Markup {
  const { title, subtitle, x, y, lines, bands = [], name, height = HEIGHT, isWide = false } = chart;
  const plot = createPlot({ width: isWide ? WIDE : WIDTH, height, x, y });
  const { left, right, top, bottom } = plot;
  const shade = bands.map(({ from, to, label }) => {
    const start = plot.x(from);
    const width = plot.x(to) - start;
    const text = width > label.length * 6 ? label : '';
    return markup`<g><rect class="band" x="${start}" y="${top}" width="${width.toFixed(1)}" height="${
      bottom - top
    }"/><text class="band-label" x="${start + 5}" y="${top + 12}">${text}</text></g>`;
  });
  const drawn = lines.flatMap((line) =>
    stretchesOf(line).map((points) => {
      const path = pathOf(points, line.style, plot);
      const [first, second] = points;
      const fill =
        line.style === 'filled'
          ? markup`<path d="${path} L${plot.x(points.at(-1)?.[0] ?? 0)},${bottom} L${plot.x(
              first?.[0] ?? 0,
            )},${bottom} Z" fill="${line.colour}" fill-opacity="0.12"/>`
          : null;
      // A line of one point would be invisible.
      const dot =
        first !== undefined && second === undefined
          ? markup`<circle cx="${plot.x(first[0])}" cy="${plot.y(first[1])}" r="3" fill="${line.colour}"/>`
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
                  markup`<circle class="hit" cx="${plot.x(px)}" cy="${plot.y(py)}" r="5" fill="${line.colour}"><title>${name(line, px, py)}</title></circle>`,
              ),
          );
  return markup`<figure class="chart"><figcaption><strong>${title}</strong>${
    subtitle === undefined ? null : markup`<span>${subtitle}</span>`
  }</figcaption>${legend(lines)}<svg viewBox="${plot.viewBox}" role="img" aria-label="${title}">${shade}${plot.grid}<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>${drawn}${named}</svg></figure>`;
}

function legend(lines: readonly Line[]): Markup {
  return markup`<div class="legend">${lines.map(
    ({ label, colour, style }) =>
      markup`<span><i class="${style === 'dashed' ? 'dashed' : 'solid'}" style="color:${colour}"></i>${label}</span>`,
  )}</div>`;
}

type Point = readonly [x: number, y: number];

/** Splits a line into its uninterrupted parts. */
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

function pathOf(points: readonly Point[], style: Line['style'], { x, y }: Plot): string {
  return points
    .map(([px, py], i) => {
      if (i === 0) return `M${x(px)},${y(py)}`;
      if (style === 'step-after') return `H${x(px)}V${y(py)}`;
      if (style === 'step-before') return `V${y(py)}H${x(px)}`;
      return `L${x(px)},${y(py)}`;
    })
    .join(' ');
}
