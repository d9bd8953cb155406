import { type MetricsSource } from '@lipsync/runtime';
import * as prometheus from 'prom-client';
import { type LabelsOf, type MetricName, METRICS } from './catalogue';
import { type LOOPS, type MetricDefinition } from './metric-definition';

/** The names of all metrics of one type. */
type NameOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/**
 * The metrics of one process, or of one test. `text` reports every metric that was requested here, from its first value
 * on.
 */
export interface Metrics extends MetricsSource {
  counter<Name extends NameOf<'counter'>>(name: Name): Counter<LabelsOf<Name>>;
  gauge<Name extends NameOf<'gauge'>>(name: Name): Gauge<LabelsOf<Name>>;
  histogram<Name extends NameOf<'histogram'>>(name: Name): Histogram<LabelsOf<Name>>;
  /**
   * Runs before every scrape, for values that are looked up rather than counted. If it rejects, the other metrics are
   * still reported.
   */
  onScrape(collect: () => Promise<void>): void;
  /** Adds metrics of the process itself: memory, processor time, garbage collection, event loop lag. */
  addProcessMetrics(): void;
}

type OpenMetrics = prometheus.OpenMetricsContentType;

/** What the client library needs to know about any metric. */
interface Settings {
  name: string;
  help: string;
  labelNames: string[];
  registers: prometheus.Registry<OpenMetrics>[];
  enableExemplars?: boolean;
  buckets?: number[];
}

const PREFIX = 'lipsync_';

/** Creates a separate registry: no two share anything, and importing this registers nothing. */
export function createMetrics(): Metrics {
  // Only OpenMetrics, which Prometheus asks for before its older format, has exemplars.
  const registry = new prometheus.Registry<OpenMetrics>();
  registry.setContentType(prometheus.Registry.OPENMETRICS_CONTENT_TYPE);
  const made = new Map<MetricName, object>();
  const collectors: (() => Promise<void>)[] = [];

  /** Returns the metric, created on the first request. It exists once in its registry. */
  function obtain<Made extends object>(
    name: MetricName,
    type: new (settings: Settings) => Made,
    begin: (metric: Made, definition: MetricDefinition) => void = () => undefined,
  ): Made {
    const known = made.get(name);
    if (known instanceof type) return known;
    const definition: MetricDefinition = METRICS[name];
    const metric = new type({
      name: `${PREFIX}${name}`,
      help: definition.help,
      labelNames: Object.keys(definition.labels),
      registers: [registry],
      ...(definition.buckets === undefined
        ? {}
        : { buckets: [...definition.buckets], enableExemplars: true }),
    });
    made.set(name, metric);
    begin(metric, definition);
    return metric;
  }

  return {
    contentType: registry.contentType,
    text: async () => {
      await Promise.allSettled(collectors.map((collect) => collect()));
      return registry.metrics();
    },
    counter: <Name extends NameOf<'counter'>>(name: Name) =>
      counterOf<LabelsOf<Name>>(obtain(name, prometheus.Counter<string>, startFromZero)),
    gauge: <Name extends NameOf<'gauge'>>(name: Name) =>
      gaugeOf<LabelsOf<Name>>(obtain(name, prometheus.Gauge<string>)),
    histogram: <Name extends NameOf<'histogram'>>(name: Name) =>
      histogramOf<LabelsOf<Name>>(obtain(name, prometheus.Histogram<string>)),
    onScrape: (collect) => void collectors.push(collect),
    addProcessMetrics: () => {
      // At the default of 10 ms, the timer that measures the lag costs half a percent of a core in every process at rest.
      // The measured lag includes this pause.
      prometheus.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
      // The library also reports the sums of some gauges, as gauges under names that Prometheus keeps for counters.
      for (const { name } of registry.getMetricsAsArray())
        if (name.endsWith('_total') && registry.getSingleMetric(name) instanceof prometheus.Gauge)
          registry.removeSingleMetric(name);
    },
  };
}

function startFromZero(metric: prometheus.Counter, { labels, fromZero }: MetricDefinition): void {
  if (fromZero) for (const values of combinations(labels)) metric.inc(values, 0);
}

function counterOf<L extends Labels>(metric: prometheus.Counter): Counter<L> {
  return {
    inc: (labels, by = 1) => {
      // The client throws on anything else. A failed measurement must not fail the work that it measures.
      if (Number.isFinite(by) && by >= 0) metric.inc(labels, by);
    },
  };
}

function gaugeOf<L extends Labels>(metric: prometheus.Gauge): Gauge<L> {
  return {
    set: (labels, value) => metric.set(labels, value),
    add: (labels, change) => metric.inc(labels, change),
    reset: () => {
      metric.reset();
      // The client would report a metric without labels as 0, which looks like a measured value.
      metric.remove({});
    },
  };
}

function histogramOf<L extends Labels>(metric: prometheus.Histogram): Histogram<L> {
  return {
    observe: (labels, value, traceId) => {
      const exemplarLabels = traceId === undefined ? {} : { trace_id: traceId };
      if (Number.isFinite(value)) metric.observe({ labels, value, exemplarLabels });
    },
  };
}

/** Every combination of one value per label. */
function combinations(labels: MetricDefinition['labels']): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (chosen, [name, values]) =>
      chosen.flatMap((labeled) => values.map((value) => ({ ...labeled, [name]: value }))),
    [{}],
  );
}

/** Values of a metric's labels by name. */
type Labels = Readonly<Record<string, string>>;

/** A count that only increases. */
interface Counter<L extends Labels> {
  inc(labels: L, by?: number): void;
}

/** A value that can go up and down. */
interface Gauge<L extends Labels> {
  set(labels: L, value: number): void;
  add(labels: L, change: number): void;
  /** Forgets every value, so that stale values are not reported. */
  reset(): void;
}

/** A distribution of values, in cumulative buckets. */
interface Histogram<L extends Labels> {
  /**
   * Ignores a value that is not a finite number (it could not be measured). `traceId` becomes the exemplar of the bucket:
   * the newest trace whose value fell into it.
   */
  observe(labels: L, value: number, traceId?: string): void;
}

export type TurnOutcome = 'completed' | 'failed';

/** Counts the turns of one loop, which pauses for `pauseMs` between them, and records when the last one ended. */
export function countTurns(
  metrics: Metrics,
  loop: (typeof LOOPS)[number],
  pauseMs: number,
): (outcome: TurnOutcome) => void {
  metrics.gauge('loop_pause_seconds').set({ loop }, pauseMs / 1000);
  const turns = metrics.counter('loop_turns_total');
  // `fromZero` of the catalogue would report the loops of other services as well.
  for (const outcome of ['completed', 'failed'] as const) turns.inc({ loop, outcome }, 0);
  const lastTurn = metrics.gauge('loop_last_turn_timestamp_seconds');
  return (outcome) => {
    turns.inc({ loop, outcome });
    lastTurn.set({ loop }, Date.now() / 1000);
  };
}
