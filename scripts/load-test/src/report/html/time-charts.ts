import { colourAt, COLOURS, linearScale, logScale, type Markup, timeScale } from '@lipsync/scripts';
import { clockTime, milliseconds, significant } from '../format';
import { type LoadTestReport, type SliceReport } from '../report';
import { type Band, type Line, lineChart } from './line-chart';

type Series = LoadTestReport['series'];

/** Arriving callers and their outcomes over the time of the run. */
export function arrivalsChart(series: Series): Markup {
  const line = (
    label: string,
    colour: string,
    of: (slice: SliceReport) => number,
    style?: Line['style'],
  ): Line => ({
    label,
    colour,
    points: series.slices.map((slice) => [middle(series, slice), of(slice) / series.slice_seconds]),
    ...(style === undefined ? {} : { style }),
  });
  const all = [
    line('callers arrived', COLOURS.blue, ({ arrivals }) => arrivals, 'filled'),
    line('callers served', COLOURS.green, ({ completed }) => completed),
    line('requests failed', COLOURS.red, ({ failed }) => failed),
    line('requests refused by a limit', COLOURS.orange, ({ limited }) => limited),
    line('callers not sent', COLOURS.grey, ({ not_sent }) => not_sent, 'dashed'),
  ];
  const [arrived, served, ...others] = all;
  // A line of zeros would only lie on the axis.
  const lines = [
    arrived,
    served,
    ...others.filter(({ points }) => points.some(([, y]) => (y ?? 0) > 0)),
  ].filter((each) => each !== undefined);
  return lineChart({
    title: 'Arrivals and completions',
    subtitle: 'per second',
    x: timeAxis(series),
    y: linearScale(highest(lines), significant),
    lines,
    bands: bandsOf(series),
    name: ({ label }, x, y) => `${clockTime(Math.round(x))}: ${significant(y)}/s ${label}`,
    isWide: true,
  });
}

/** Median and maximum of the busiest operations per slice, and the 99th percentile of slices that have one. */
export function latencyCharts(series: Series, operations: readonly string[]): Markup[] {
  return operations.map((operation, index) => {
    // Slices without requests have no point, and no line crosses them.
    const points = series.slices.map((slice) => {
      const { p50 = null, p99 = null, max = null } = slice.latency_ms[operation] ?? {};
      return { x: middle(series, slice), p50, p99, max };
    });
    const hasP99 = points.some(({ p99 }) => p99 !== null);
    const lines: Line[] = [
      {
        label: 'max',
        colour: COLOURS.grey,
        points: points.map(({ x, max }) => [x, max]),
      },
      ...(hasP99
        ? [
            {
              label: 'p99, of a hundred or more',
              colour: colourAt(index),
              points: points.map(({ x, p99 }) => [x, p99] as const),
            },
          ]
        : []),
      {
        label: 'p50',
        colour: colourAt(index),
        points: points.map(({ x, p50 }) => [x, p50]),
        style: 'dashed',
      },
    ];
    const values = points.flatMap(({ p50, max }) => [p50, max]).filter((value) => value !== null);
    return lineChart({
      title: operation,
      subtitle: 'latency from arrival',
      x: timeAxis(series),
      y: logScale(Math.min(...values), Math.max(...values), milliseconds),
      lines,
      bands: bandsOf(series),
      name: ({ label }, x, y) => `${clockTime(Math.round(x))}: ${label} ${milliseconds(y)}`,
      height: 190,
    });
  });
}

/** The number of renders in progress: if it rises for as long as callers arrive, the queue would grow without end. */
export function backlogChart(series: Series): Markup {
  const lines: Line[] = [
    {
      label: 'open renders',
      colour: COLOURS.blue,
      points: series.slices.map((slice) => [slice.at_seconds + series.slice_seconds, slice.open_renders]),
      style: 'filled',
    },
    {
      label: 'completed so far',
      colour: COLOURS.green,
      points: accumulated(series.slices).map(([slice, total]) => [
        slice.at_seconds + series.slice_seconds,
        total,
      ]),
    },
  ];
  return lineChart({
    title: 'Renders under way and completed',
    subtitle: 'renders',
    x: timeAxis(series),
    y: linearScale(highest(lines), significant),
    lines,
    bands: bandsOf(series),
    name: ({ label }, x, y) => `${clockTime(Math.round(x))}: ${y} ${label}`,
  });
}

function accumulated(slices: readonly SliceReport[]): [SliceReport, number][] {
  let total = 0;
  return slices.map((slice) => [slice, (total += slice.renders_completed)]);
}

function timeAxis(series: Series) {
  return timeScale(Math.max(1, series.slices.length) * series.slice_seconds, clockTime);
}

function middle({ slice_seconds }: Series, { at_seconds }: SliceReport): number {
  return at_seconds + slice_seconds / 2;
}

function bandsOf({ warm_up_seconds, arrivals_end_seconds, slices, slice_seconds }: Series): Band[] {
  const end = slices.length * slice_seconds;
  return [
    ...(warm_up_seconds > 0 ? [{ from: 0, to: warm_up_seconds, label: 'warm-up' }] : []),
    ...(end > arrivals_end_seconds ? [{ from: arrivals_end_seconds, to: end, label: 'drain' }] : []),
  ];
}

function highest(lines: readonly Line[]): number {
  return Math.max(1e-9, ...lines.flatMap(({ points }) => points.map(([, y]) => y ?? 0)));
}
