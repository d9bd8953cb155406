import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExposition } from '@lipsync/testkit';
import { METRICS } from './catalogue';
import { type MetricDefinition, SERVICES } from './metric-definition';
import { createMetrics, type Metrics } from './metrics';

const scrape = async (metrics: Metrics) => parseExposition(await metrics.text());

describe('createMetrics', () => {
  it('reports counters, gauges and histograms in well-formed text', async () => {
    const metrics = createMetrics();
    metrics.counter('jobs_total').inc({ queue: 'media', outcome: 'completed' });
    metrics.counter('jobs_total').inc({ queue: 'media', outcome: 'completed' }, 2);
    metrics.gauge('slots_busy').add({}, 2);
    metrics.gauge('slots_busy').add({}, -1);
    metrics.histogram('queue_wait_seconds').observe({ queue: 'musetalk' }, 3);
    const told = await scrape(metrics);
    expect(told.value('lipsync_jobs_total', { queue: 'media', outcome: 'completed' })).toBe(3);
    expect(told.value('lipsync_slots_busy')).toBe(1);
    expect(told.value('lipsync_queue_wait_seconds_bucket', { queue: 'musetalk', le: '2.5' })).toBe(0);
    expect(told.value('lipsync_queue_wait_seconds_bucket', { queue: 'musetalk', le: '5' })).toBe(1);
    expect(told.families.get('lipsync_queue_wait_seconds')?.type).toBe('histogram');
  });

  it('shows with each bucket of a histogram the newest trace that fell into it', async () => {
    const metrics = createMetrics();
    const durations = metrics.histogram('job_duration_seconds');
    const labels = { queue: 'media', outcome: 'completed' } as const;
    for (const [seconds, traceId] of [
      [3, 'a'.repeat(32)],
      [4, 'b'.repeat(32)],
      [0.2, undefined],
    ] as const)
      durations.observe(labels, seconds, traceId);
    const text = await metrics.text();
    expect(text.match(/ # \{.*/g)).toEqual([
      expect.stringMatching(/^ # \{trace_id="b{32}"\} 4 \d+(\.\d+)?$/),
    ]);
    expect(text).toMatch(/job_duration_seconds_bucket\{le="5",queue="media",outcome="completed"\} 3 # /);
    expect(text.endsWith('\n# EOF\n')).toBe(true);
  });

  it('begins at zero for metrics to alert on, for every combination of labels', async () => {
    const metrics = createMetrics();
    metrics.counter('rate_limit_decisions_total');
    const told = await scrape(metrics);
    const samples = told.families.get('lipsync_rate_limit_decisions_total')?.samples ?? [];
    expect(samples).toHaveLength(9);
    expect(samples.every(({ value }) => value === 0)).toBe(true);
  });

  it('ignores what could not be measured instead of throwing', async () => {
    const metrics = createMetrics();
    metrics.histogram('render_realtime_factor').observe({ engine: 'musetalk' }, NaN);
    metrics.counter('gpu_seconds_total').inc({ engine: 'musetalk' }, Infinity);
    metrics.counter('gpu_seconds_total').inc({ engine: 'musetalk' }, -1);
    const told = await scrape(metrics);
    expect(told.families.get('lipsync_render_realtime_factor')?.samples).toEqual([]);
    expect(told.value('lipsync_gpu_seconds_total', { engine: 'musetalk' })).toBe(0);
  });

  it('looks up values on a scrape, and reports the rest if that fails', async () => {
    const metrics = createMetrics();
    const backlog = metrics.gauge('webhook_backlog');
    metrics.onScrape(async () => backlog.set({ state: 'due' }, 4));
    metrics.onScrape(() => Promise.reject(new Error('the database is away')));
    expect((await scrape(metrics)).value('lipsync_webhook_backlog', { state: 'due' })).toBe(4);
  });

  it('reports nothing of a gauge that was reset', async () => {
    const metrics = createMetrics();
    const [labeled, plain] = [metrics.gauge('live_slots'), metrics.gauge('webhook_oldest_due_seconds')];
    labeled.set({ queue: 'media' }, 3);
    plain.set({}, 3);
    labeled.reset();
    plain.reset();
    const told = await scrape(metrics);
    expect(told.families.get('lipsync_live_slots')?.samples).toEqual([]);
    expect(told.families.get('lipsync_webhook_oldest_due_seconds')?.samples).toEqual([]);
  });

  it('reports metrics of the process itself when asked to, and gives only counters the name of one', async () => {
    const metrics = createMetrics();
    metrics.addProcessMetrics();
    const told = await scrape(metrics);
    for (const [name, { type }] of told.families)
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    expect(told.value('process_resident_memory_bytes')).toBeGreaterThan(0);
    expect(told.families.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
  });
});

const DOCUMENT = join(__dirname, '../../../docs/metrics.md');
/** Beyond this many values, the page lists them in the label's own paragraph. */
const VALUES_MAX = 6;

/** The row of a metric in docs/metrics.md. If the test fails, write this there. */
function row(name: string, { type, labels, help }: MetricDefinition): string {
  const told = Object.entries(labels).map(([label, values]) => {
    const isShort = values.length > 0 && values.length <= VALUES_MAX;
    return isShort ? `\`${label}\` (${values.join(', ')})` : `\`${label}\``;
  });
  return `| \`lipsync_${name}\` | ${type} | ${told.join('; ')} | ${help} |`;
}

/**
 * Labels that scrapes attach to targets (Prometheus itself, its operator). A metric's own would be renamed
 * `exported_…`.
 */
const LABELS_OF_TARGETS = ['job', 'instance', 'namespace', 'service', 'pod', 'container', 'endpoint', 'node'];

describe('the catalogue', () => {
  it('keeps every label when it is scraped', () => {
    const labels = Object.values<MetricDefinition>(METRICS).flatMap((metric) => Object.keys(metric.labels));
    expect(labels.filter((label) => LABELS_OF_TARGETS.includes(label))).toEqual([]);
  });

  it('calls counters and nothing else a total', () => {
    for (const [name, { type }] of Object.entries<MetricDefinition>(METRICS))
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
  });
});

describe('docs/metrics.md', () => {
  const sections = readFileSync(DOCUMENT, 'utf8').split(/^## /m);
  const rowsOf = (text: string): string[] =>
    text.split('\n').filter((line) => line.startsWith('| `lipsync_'));

  it('describes every metric, under the services that report it, and no others', () => {
    const inSections = sections.map((section) => [section.split('\n')[0] ?? '', rowsOf(section)] as const);
    const documented = inSections.filter(([, rows]) => rows.length > 0);
    const expected = new Map<string, string[]>();
    for (const [name, definition] of Object.entries(METRICS)) {
      const title = titleOf(definition);
      expected.set(title, [...(expected.get(title) ?? []), row(name, definition)]);
    }
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected));
  });
});

function titleOf({ services }: MetricDefinition): string {
  return services.length === SERVICES.length ? 'Every service' : services.join(', ');
}
