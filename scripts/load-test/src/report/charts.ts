import { init, type LineSeriesOption } from 'echarts';
import { Markup, markup } from './markup';
import { type Distribution, type LoadTestReport, type OperationReport, type SliceReport } from './report';
import { clockTime, milliseconds, percent, significant } from './summary';

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
  readonly style?: 'dashed' | 'filled' | 'step-before' | 'step-after';
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
    xAxis: timeAxis(series),
    yAxis: { type: 'value', min: 0, axisLabel: { formatter: significant } },
    bands: bandsOf(series),
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
    xAxis: timeAxis(series),
    yAxis: { type: 'value', min: 0, minInterval: 1 },
    bands: bandsOf(series),
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
      xAxis: timeAxis(series),
      yAxis: millisecondsAxis(lines.flatMap(({ points }) => points.map(([, y]) => y ?? 0))),
      bands: bandsOf(series),
      height: 190,
    });
  });
}

/** Latency against the share of requests that were no slower, with the last nines stretched. */
export function percentileChart(operations: readonly OperationReport[]): Markup | null {
  const lines = operations.map(({ operation, latency_ms, latency_distribution }, index): Line => {
    const { share: shares, at } = latency_distribution;
    // Only one request, the slowest, lies beyond this share, so no higher percentile can be given.
    const lastShare = 1 - 1 / (latency_ms?.count ?? 1);
    return {
      label: operation,
      color: colorAt(index),
      // The fastest bucket spans from share 0 to its own share.
      points: [0, ...shares].map((share, i) => [
        nines(Math.min(share, lastShare)),
        at[Math.max(0, i - 1)] ?? 0,
      ]),
      style: 'step-before',
    };
  });
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y ?? 0)).filter((y) => y > 0);
  if (values.length === 0) return null;
  const most = Math.max(...operations.map(({ latency_ms }) => latency_ms?.count ?? 1));
  return figure('Latency distribution', 'latency that a share of requests does not exceed', lines, {
    xAxis: {
      type: 'value',
      min: 0,
      max: Math.max(1, nines(1 - 1 / most)),
      interval: 1,
      axisLabel: {
        showMaxLabel: false,
        formatter: (value: number) => `${Number((100 * (1 - 10 ** -value)).toPrecision(8))} %`,
      },
    },
    yAxis: millisecondsAxis(values),
    height: 320,
    isWide: true,
  });
}

/** Equal distance for each additional nine: this gives the rare slow ones room. */
const nines = (share: number): number => Math.max(0, -Math.log10(Math.max(1 - share, 1e-6)));

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
      // Zero has no place on a logarithmic axis; what is below a microsecond counts as one.
      const x = (ms: number): number => Math.max(ms, 1e-3);
      return {
        label,
        color: colorAt(index),
        points: [[x(at[0] ?? 0), 0], ...at.map((ms, i) => [x(ms), share[i] ?? 0] as const)],
        style: 'step-after',
      };
    });
  const values = lines.flatMap(({ points }) => points.map(([x]) => x));
  if (values.length === 0) return null;
  return figure(title, subtitle, lines, {
    xAxis: millisecondsAxis(values),
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
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: isWide ? 1150 : 560, height });
  const axis = {
    axisLabel: { color: '#5c6875', fontSize: 11 },
    splitLine: { show: true, lineStyle: { color: '#e6eaee' } },
  };
  const merged = (given: object): object => {
    const label = 'axisLabel' in given && typeof given.axisLabel === 'object' ? given.axisLabel : {};
    return { ...axis, ...given, axisLabel: { ...axis.axisLabel, ...label } };
  };
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
    xAxis: merged(xAxis),
    yAxis: merged(yAxis),
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
    ...(style === 'step-before' ? { step: 'start' as const } : {}),
    ...(style === 'step-after' ? { step: 'end' as const } : {}),
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

function timeAxis(series: Series): object {
  const seconds = Math.max(1, series.slices.length) * series.slice_seconds;
  return {
    type: 'value',
    min: 0,
    max: seconds,
    interval: CLOCK_STEPS.find((step) => step >= seconds / 8) ?? Math.ceil(seconds / 8 / DAY) * DAY,
    axisLabel: { formatter: clockTime, showMaxLabel: false },
  };
}

const DAY = 86_400;
/** Round divisions of minutes, hours and days, in seconds. */
const CLOCK_STEPS = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10_800,
  21_600,
  43_200,
  DAY,
];

/** Whole decades around the values. */
function millisecondsAxis(values: readonly number[]): object {
  const positive = values.filter((value) => value > 0);
  const low = positive.length === 0 ? 0 : Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const high = positive.length === 0 ? 1 : Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
  return {
    type: 'log',
    min: 10 ** low,
    max: 10 ** Math.max(low + 1, high),
    axisLabel: { formatter: milliseconds },
    minorSplitLine: { show: true, lineStyle: { color: '#f1f3f6' } },
  };
}

function middle({ slice_seconds }: Series, { at_seconds }: SliceReport): number {
  return at_seconds + slice_seconds / 2;
}

function bandsOf({ warm_up_seconds, arrivals_end_seconds, slices, slice_seconds }: Series) {
  const end = slices.length * slice_seconds;
  return [
    ...(warm_up_seconds > 0 ? [{ from: 0, to: warm_up_seconds, label: 'warm-up' }] : []),
    ...(end > arrivals_end_seconds ? [{ from: arrivals_end_seconds, to: end, label: 'drain' }] : []),
  ];
}
