import { init, type LineSeriesOption } from 'echarts';
import { Markup, markup } from './markup';
import { type Distribution, type LoadTestReport, type OperationReport, type SliceReport } from './report';
import { milliseconds, percent, significant } from './summary';

type Series = LoadTestReport['series'];

/** Distinguishable with most kinds of color blindness, after Okabe and Ito; darkened for lines on white. */
const COLORS = ['#1f6fb5', '#d17c00', '#00845f', '#9b4f8e', '#3b9fd8', '#c8401a', '#8a8300', '#332288'];
const [BLUE = '', ORANGE = '', GREEN = ''] = COLORS;
const RED = '#c8401a';
const GRAY = '#6b7684';
const colorAt = (index: number): string => COLORS[index % COLORS.length] ?? GRAY;

interface Line {
  readonly label: string;
  readonly color: string;
  /** Ascending in x; null interrupts the line. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
  readonly style?: 'dashed' | 'filled';
}

/** Arriving callers and their outcomes over the time of the run. */
export function arrivalsChart(series: Series): Markup {
  const line = (
    label: string,
    color: string,
    of: (slice: SliceReport) => number,
    style?: Line['style'],
  ): Line => ({
    label,
    color,
    points: series.slices.map((slice) => [middle(series, slice), of(slice) / series.slice_seconds]),
    ...(style === undefined ? {} : { style }),
  });
  const always = [
    line('callers arrived', BLUE, ({ arrivals }) => arrivals, 'filled'),
    line('callers served', GREEN, ({ completed }) => completed),
  ];
  const rare = [
    line('requests failed', RED, ({ failed }) => failed),
    line('requests refused by a limit', ORANGE, ({ limited }) => limited),
    line('callers not sent', GRAY, ({ not_sent }) => not_sent, 'dashed'),
  ];
  // A line of zeros would only lie on the axis.
  const lines = [...always, ...rare.filter(({ points }) => points.some(([, y]) => (y ?? 0) > 0))];
  return figure('Arrivals and completions', 'per second', lines, {
    ...overTime(series),
    yAxis: { type: 'value', min: 0, axisLabel: { formatter: significant } },
    isWide: true,
  });
}

/** The number of renders in progress: if it rises for as long as callers arrive, the queue would grow without end. */
export function backlogChart(series: Series): Markup {
  const end = (slice: SliceReport): number => slice.at_seconds + series.slice_seconds;
  let completed = 0;
  const lines: Line[] = [
    {
      label: 'open renders',
      color: BLUE,
      points: series.slices.map((slice) => [end(slice), slice.open_renders]),
      style: 'filled',
    },
    {
      label: 'completed so far',
      color: GREEN,
      points: series.slices.map((slice) => [end(slice), (completed += slice.renders_completed)]),
    },
  ];
  return figure('Renders under way and completed', 'renders', lines, {
    ...overTime(series),
    yAxis: { type: 'value', min: 0, minInterval: 1 },
  });
}

/** Median and maximum of the busiest operations per slice, and the 99th percentile of slices that have one. */
export function latencyCharts(series: Series, operations: readonly string[]): Markup[] {
  return operations.map((operation, index) => {
    // Slices without requests have no point, and no line crosses them.
    const of = (part: 'p50' | 'p99' | 'max'): Line['points'] =>
      series.slices.map((slice) => [middle(series, slice), slice.latency_ms[operation]?.[part] ?? null]);
    const p99 = of('p99');
    const lines: Line[] = [
      { label: 'max', color: GRAY, points: of('max') },
      ...(p99.some(([, y]) => y !== null)
        ? [{ label: 'p99, of a hundred or more', color: colorAt(index), points: p99 }]
        : []),
      { label: 'p50', color: colorAt(index), points: of('p50'), style: 'dashed' },
    ];
    return figure(operation, 'latency from arrival', lines, {
      ...overTime(series),
      yAxis: MILLISECONDS,
      height: 190,
    });
  });
}

/** Latency against the share of requests that were no slower, with the last nines stretched. */
export function percentileChart(operations: readonly OperationReport[]): Markup | null {
  if (operations.length === 0) return null;
  const lines = operations.map(({ operation, latency_distribution: { share, at } }, index): Line => {
    // Nothing lies beyond the share of all, so it has no place among the nines.
    const points = share.slice(0, -1).map((part, i) => [nines(part), positive(at[i])] as const);
    return { label: operation, color: colorAt(index), points };
  });
  return figure('Latency distribution', 'latency that a share of requests does not exceed', lines, {
    xAxis: {
      type: 'value',
      min: 0,
      interval: 1,
      axisLabel: {
        showMaxLabel: false,
        formatter: (value: number) => `${Number((100 * (1 - 10 ** -value)).toPrecision(8))} %`,
      },
    },
    yAxis: MILLISECONDS,
    height: 320,
    isWide: true,
  });
}

/** Equal distance for each additional nine: this gives the rare slow ones room. */
const nines = (share: number): number => -Math.log10(1 - share);

/** Zero has no place on a logarithmic axis; what is below a microsecond counts as one. */
const positive = (ms = 0): number => Math.max(ms, 1e-3);

/** The share of all that took no longer, over a logarithmic time axis; null without values. */
export function cumulativeChart(
  title: string,
  subtitle: string,
  distributions: readonly { readonly label: string; readonly distribution: Distribution }[],
  isWide = false,
): Markup | null {
  const lines = distributions
    .filter(({ distribution }) => distribution.at.length > 0)
    .map(({ label, distribution: { at, share } }, index): Line => {
      const points = at.map((ms, i) => [positive(ms), share[i] ?? 0] as const);
      return { label, color: colorAt(index), points: [[positive(at[0]), 0], ...points] };
    });
  if (lines.length === 0) return null;
  return figure(title, subtitle, lines, {
    xAxis: MILLISECONDS,
    yAxis: { type: 'value', min: 0, max: 1, axisLabel: { formatter: percent } },
    isWide,
  });
}

interface Plot {
  readonly xAxis: object;
  readonly yAxis: object;
  readonly bands?: readonly { readonly from: number; readonly to: number; readonly label: string }[];
  readonly height?: number;
  readonly isWide?: boolean;
}

/** A drawing without a script, rendered by ECharts. */
function figure(title: string, subtitle: string, lines: readonly Line[], plot: Plot): Markup {
  const { xAxis, yAxis, bands = [], height = 240, isWide = false } = plot;
  const size = { width: isWide ? 1150 : 560, height };
  const chart = init(null, { valueAxis: AXIS, logAxis: AXIS }, { renderer: 'svg', ssr: true, ...size });
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    grid: { left: 62, right: 24, top: 34, bottom: 26 },
    legend: {
      left: 0,
      top: 0,
      itemGap: 24,
      itemHeight: 3,
      data: lines.map(({ label, style }) => ({
        name: label,
        icon: style === 'dashed' ? DASHES : 'roundRect',
      })),
      textStyle: { color: '#5c6875', fontSize: 12 },
    },
    xAxis,
    yAxis,
    series: lines.map((line, index) => seriesOf(line, index === 0 ? bands : [])),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  // In a page an SVG needs neither names of namespaces nor effects of pointers; with no scrolling nothing is clipped.
  const inline = svg
    .replace(/<(style|defs)[^>]*>.*?<\/\1>/gs, '')
    .replace(/ (xmlns|xmlns:\w+|class|clip-path|pointer-events)="[^"]*"/g, '')
    .replace('<svg ', '<svg role="img" ');
  return markup`<figure class="chart"><figcaption><strong>${title}</strong><span>${subtitle}</span></figcaption>${new Markup(inline)}</figure>`;
}

const AXIS = {
  axisLabel: { color: '#5c6875', fontSize: 11 },
  splitLine: { show: true, lineStyle: { color: '#e6eaee' } },
};

const DASHES = 'path://M0 0h10v3H0zM15 0h10v3H15z';

function seriesOf(
  { label, color, points, style }: Line,
  bands: NonNullable<Plot['bands']>,
): LineSeriesOption {
  const isGap = (index: number): boolean => points[index]?.[1] == null;
  return {
    type: 'line',
    name: label,
    symbol: 'none',
    color,
    lineStyle: { width: 1.8, type: style === 'dashed' ? 'dashed' : 'solid' },
    ...(style === 'filled' ? { areaStyle: { opacity: 0.12 } } : {}),
    data: points.map(([x, y], index) => ({
      value: [x, y ?? '-'],
      // A line of one point would be invisible.
      ...(isGap(index - 1) && isGap(index + 1) ? { symbol: 'circle', symbolSize: 6 } : {}),
    })),
    markArea: {
      silent: true,
      itemStyle: { color: '#eef1f4' },
      label: { color: '#8a95a1', fontSize: 11, position: 'insideTop' },
      data: bands.map(({ from, to, label: name }) => [{ name, xAxis: from }, { xAxis: to }]),
    },
  };
}

const MILLISECONDS = {
  type: 'log',
  axisLabel: { formatter: milliseconds },
  minorSplitLine: { show: true, lineStyle: { color: '#f1f3f6' } },
};

/** The axis of a run's time, with warm-up and drain shaded. */
function overTime({ warm_up_seconds, arrivals_end_seconds, slices, slice_seconds }: Series) {
  const end = Math.max(1, slices.length) * slice_seconds;
  return {
    xAxis: { type: 'value', min: 0, max: end, axisLabel: { formatter: '{value} s', showMaxLabel: false } },
    bands: [
      ...(warm_up_seconds > 0 ? [{ from: 0, to: warm_up_seconds, label: 'warm-up' }] : []),
      ...(end > arrivals_end_seconds ? [{ from: arrivals_end_seconds, to: end, label: 'drain' }] : []),
    ],
  };
}

function middle({ slice_seconds }: Series, { at_seconds }: SliceReport): number {
  return at_seconds + slice_seconds / 2;
}
