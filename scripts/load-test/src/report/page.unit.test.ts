import { renderHtml } from './page';
import { type LoadTestReport } from './report';

const QUANTILES = { count: 1_000, mean: 12, p50: 10, p90: 20, p99: 45.6, p999: 80, max: 123 };
const DISTRIBUTION = { share: [0.5, 0.9, 1], at: [10, 20, 123] };

const report = (over: Partial<LoadTestReport> = {}): LoadTestReport => ({
  schema_version: 4,
  summary: 'On 2 cores it carried 40/s.',
  verdict: { outcome: 'carried', reasons: [] },
  started_at: '2026-01-01T00:00:00.000Z',
  finished_at: '2026-01-01T00:01:00.000Z',
  scenario: 'soak',
  target: {
    base_url: 'https://api.example.test',
    description: 'the deployment',
    customers: 2,
    clock_offset_ms: 0,
  },
  config: {
    duration_seconds: 30,
    warm_up_seconds: 5,
    drain_seconds: 60,
    seed: 1,
    connections: 64,
    max_in_flight: 2_000,
    timeout_seconds: 30,
    poll_interval_seconds: 1,
    polls_per_second: 20,
    engines: ['musetalk+highsync'],
    sync_modes: ['loop'],
    media: 'once',
    video: 'face.mp4',
    audio: 'speech.wav',
    receiver_shares: { fast: 9, hanging: 1 },
    slow_receiver_seconds: 2,
    max_failure_ratio: 0.01,
    streams: [
      {
        name: 'webhooks',
        arrivals: 'poisson',
        rate_per_second: 2,
        burst_size: 20,
        mix: { create: 1 },
        announces: true,
      },
    ],
  },
  machine: {
    shared_with_service: true,
    os: 'Linux',
    node: 'v20',
    cpu: 'A processor',
    cpus: 2,
    memory_gib: 4,
  },
  generator: {
    lag_ms: QUANTILES,
    peak_rss_mib: 120,
    in_flight_peak: 12,
    stopped_early: false,
  },
  streams: [
    {
      name: 'webhooks',
      offered_per_second: 2,
      arrivals: 60,
      not_sent: 0,
      completed: 60,
      failed: 0,
      completed_per_second: 2,
      under_way_at_half: 0,
      under_way_at_end: 17,
      latency_ms: QUANTILES,
    },
  ],
  operations: [
    {
      operation: 'create_render',
      requests: 1_000,
      per_second: 33,
      succeeded: 999,
      expected: 0,
      limited: 0,
      failed: 1,
      latency_ms: QUANTILES,
      response_ms: QUANTILES,
      latency_distribution: DISTRIBUTION,
    },
  ],
  errors: [
    {
      operation: 'create_render',
      class: 'unavailable',
      status: 503,
      code: 'service_unavailable',
      retryable: true,
      count: 1,
    },
  ],
  renders: {
    accepted: 10,
    ended: { completed: 9, failed: 1 },
    error_codes: { engine_failed: 1 },
    completed_per_hour: 360,
    output_seconds: 40,
    work_per_output_second: 1.2,
    queue_to_start_ms: QUANTILES,
    queue_to_start_distribution: DISTRIBUTION,
    start_from: { record: 8, poll: 1 },
    end_to_end_ms: QUANTILES,
    end_to_end_distribution: DISTRIBUTION,
    open_at_half: 1,
    open_at_end: 2,
  },
  webhooks: {
    events: 10,
    attempts: 11,
    redeliveries: 1,
    first_attempt_lag_ms: QUANTILES,
    by_receiver: {
      fast: {
        events: 9,
        acknowledged: 9,
        first_attempt_lag_ms: QUANTILES,
        first_attempt_lag_distribution: DISTRIBUTION,
      },
    },
  },
  series: {
    slice_seconds: 1,
    arrivals_end_seconds: 2,
    warm_up_seconds: 1,
    slices: [0, 1, 2].map((at_seconds) => ({
      at_seconds,
      arrivals: 2,
      not_sent: 0,
      completed: 2,
      requests: 4,
      failed: at_seconds,
      limited: 0,
      open_renders: 1,
      renders_completed: 1,
      latency_ms: { create_render: { count: 2, p50: 10, p99: null, max: 20 } },
    })),
  },
  checks: [
    {
      id: 'renders_end',
      title: 'Every accepted render ends',
      state: 'failed',
      examined: 10,
      failures: 1,
      examples: ['render_1: still processing at 40 %'],
      note: null,
    },
  ],
  ...over,
});

describe('renderHtml', () => {
  it('shows throughput, latency, errors and checks', () => {
    const page = renderHtml(report());
    for (const told of [
      'On 2 cores it carried 40/s.',
      'create_render',
      '45.6 ms',
      'service_unavailable',
      'render_1: still processing at 40 %',
      'fast receivers',
      '>17<',
      'engine_failed',
      'musetalk+highsync',
    ])
      expect(page).toContain(told);
    // Arrivals, backlog, two distributions, webhooks, one operation over time.
    expect(page.match(/<svg /g)).toHaveLength(6);
  });

  it('is self-contained: no script, no style sheet, no picture, nothing from the network', () => {
    const page = renderHtml(report());
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|src=/);
    // The only other URL is the target's name, in text.
    expect(page.replaceAll('https://api.example.test', '')).not.toMatch(/https?:/);
  });

  it('draws numbers only', () => {
    expect(renderHtml(report())).not.toMatch(/NaN|Infinity|undefined|null/);
  });

  it('escapes text from the service or the user', () => {
    const page = renderHtml(
      report({
        summary: '<script>alert(1)</script> & "more"',
        errors: [
          { operation: '<u>', class: 'refused', status: 400, code: '"><s>', retryable: false, count: 1 },
        ],
      }),
    );
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;');
    expect(page).not.toMatch(/<script|<u>|<s>/);
  });

  it('omits what a run did not have', () => {
    const page = renderHtml(
      report({
        renders: null,
        webhooks: null,
        errors: [],
        operations: [],
        streams: [],
        checks: [],
        generator: { ...report().generator, lag_ms: null },
        series: { slice_seconds: 1, arrivals_end_seconds: 0, warm_up_seconds: 0, slices: [] },
      }),
    );
    expect(page).toContain('Every request that was measured was answered with success.');
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
    expect(page).not.toContain('<h2>Renders');
  });
});
