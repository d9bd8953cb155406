import { type LoadTestReport } from '../report';
import { latencyCharts } from './time-charts';

type Latency = LoadTestReport['series']['slices'][number]['latency_ms'][string];
const FEW: Latency = { count: 99, p50: 10, p99: null, max: 500 };
const MANY: Latency = { count: 100, p50: 10, p99: 100, max: 900 };

function chartOf(latencies: readonly (Latency | typeof NONE)[]): string {
  const slices = latencies.map((latency, at_seconds) => ({
    at_seconds,
    arrivals: 0,
    not_sent: 0,
    completed: 0,
    requests: 0,
    failed: 0,
    limited: 0,
    open_renders: 0,
    renders_completed: 0,
    latency_ms: latency === NONE ? {} : { get_render: latency },
  }));
  const series = { slice_seconds: 1, arrivals_end_seconds: slices.length, warm_up_seconds: 0, slices };
  return latencyCharts(series, ['get_render'])
    .map(({ text }) => text)
    .join('');
}
const NONE = 'nobody asked';
const pathsIn = (chart: string): string[] =>
  [...chart.matchAll(/<path d="([^"]+)"/g)].map(([, path]) => path ?? '');

describe('latencyCharts', () => {
  it('draws the maximum but no 99th percentile where there are too few requests for one', () => {
    const chart = chartOf([FEW, FEW, FEW]);
    expect(chart).not.toContain('p99');
    expect(chart).toContain('max 500 ms');
    expect(pathsIn(chart)).toHaveLength(2);
  });

  it('interrupts the line of the 99th percentile at a slice that has none', () => {
    const chart = chartOf([MANY, MANY, FEW, MANY, MANY]);
    const broken = pathsIn(chart).filter((path) => path.split('L').length === 2);
    expect(broken).toHaveLength(2);
    expect(chart.match(/p99, of a hundred or more 100 ms/g)).toHaveLength(4);
  });

  it('draws no line across a time without requests', () => {
    const paths = pathsIn(chartOf([FEW, FEW, NONE, FEW, FEW]));
    expect(paths.map((path) => path.split('L').length)).toEqual([2, 2, 2, 2]);
  });

  it('shows a percentile between slices without one', () => {
    expect(chartOf([FEW, MANY, FEW])).toMatch(/<circle cx="[\d.]+" cy="[\d.]+" r="3"/);
  });
});
