import { distributionOf, histogramOf, quantilesOf } from '../track/histogram';
import { cumulativeChart, latencyCharts, percentileChart } from './charts';
import { type LoadTestReport, type OperationReport } from './report';

type Latency = LoadTestReport['series']['slices'][number]['latency_ms'][string];
const FEW: Latency = { count: 99, p50: 10, p99: null, max: 500 };
const MANY: Latency = { count: 100, p50: 10, p99: 100, max: 900 };

function latencyChart(latencies: readonly Latency[]): string {
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
    latency_ms: { get_render: latency },
  }));
  const series = { slice_seconds: 1, arrivals_end_seconds: slices.length, warm_up_seconds: 0, slices };
  return latencyCharts(series, ['get_render'])
    .map(({ text }) => text)
    .join('');
}

describe('charts of a load test', () => {
  it('draw a 99th percentile only where slices have enough requests for one', () => {
    expect(latencyChart([FEW, FEW, FEW])).not.toContain('p99');
    expect(latencyChart([FEW, MANY, FEW])).toContain('p99, of a hundred or more');
  });

  it('name shares up to the last that a request lies beyond, and latencies in their units', () => {
    const histogram = histogramOf(Array.from({ length: 1_000 }, (_, i) => (i < 980 ? 10 : 1_000)));
    const operation: OperationReport = {
      operation: 'get_render',
      requests: 1_000,
      per_second: 10,
      succeeded: 1_000,
      expected: 0,
      limited: 0,
      failed: 0,
      latency_ms: quantilesOf(histogram),
      response_ms: null,
      latency_distribution: distributionOf(histogram),
    };
    const text = percentileChart([operation])?.text;
    for (const label of ['get_render', '90 %', '99 %', '10 ms', '1 s']) expect(text).toContain(`>${label}<`);
    expect(text).not.toContain('99.99 %');
  });

  it('are left out without values', () => {
    expect(percentileChart([])).toBeNull();
    expect(cumulativeChart('Title', '', [{ label: 'none', distribution: { share: [], at: [] } }])).toBeNull();
  });

  it('refer to nothing outside of the page', () => {
    expect(latencyChart([FEW, MANY, FEW])).not.toMatch(/url\(|https?:|<style/);
  });
});
