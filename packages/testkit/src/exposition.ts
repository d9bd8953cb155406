export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** The output of a process at one scrape. */
export interface Exposition {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** The value of the only sample with this name and at least these labels; undefined if there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
/** Suffixes that samples of a family may have after the family's own name. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Parses Prometheus' text format strictly, like its own linter: every family has one HELP and one TYPE before its
 * samples and is contiguous, no sample appears twice, counters and nothing else end in _total, buckets are cumulative
 * and complete.
 * @throws Error at the first violation
 */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, MetricFamily & { samples: Sample[] }>();
  let help: { name: string; text: string } | undefined;
  let current: (MetricFamily & { samples: Sample[] }) | undefined;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) throw new Error(`${name} appears twice`);
      help = { name, text: rest };
      current = undefined;
    } else if (keyword === 'TYPE') {
      if (help?.name !== name || help.text.trim() === '') throw new Error(`${name} has no HELP`);
      if (!TYPES.includes(rest)) throw new Error(`${name} is of no type: ${rest}`);
      current = { name, type: rest, help: help.text, samples: [] };
      families.set(name, current);
    } else {
      const sample = parseSample(line);
      if (current === undefined || !belongs(sample.name, current)) throw new Error(`a stray sample: ${line}`);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) checkFamily(family);
  return { families, value: (name, labels = {}) => find(families, name, labels) };
}

function parseSample(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = '', labels = '', number = ''] = match;
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number);
  if (Number.isNaN(value) && number !== 'NaN' && number !== 'Nan') throw new Error(`no number: ${line}`);
  return { name, labels: parseLabels(labels, line), value };
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text);
    if (match === null) throw new Error(`malformed labels: ${line}`);
    const [, name = '', value = ''] = match;
    if (name in labels) throw new Error(`the label ${name} appears twice: ${line}`);
    labels[name] = value;
  }
  return labels;
}

function belongs(sample: string, { name, type }: MetricFamily): boolean {
  return (SUFFIXES[type] ?? ['']).some((suffix) => sample === `${name}${suffix}`);
}

function checkFamily({ name, type, samples }: MetricFamily): void {
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} has no _total`);
  if (type !== 'counter' && name.endsWith('_total')) throw new Error(`${name} is no counter`);
  const seen = new Set<string>();
  for (const sample of samples) {
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    if (seen.has(key)) throw new Error(`a sample appears twice: ${key}`);
    seen.add(key);
    if (type === 'counter' && !(sample.value >= 0)) throw new Error(`${key} is negative`);
  }
  if (type === 'histogram') checkBuckets(name, samples);
}

/** In the order of their bounds, buckets never decrease, and the last, unbounded one equals the count. */
function checkBuckets(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, { bound: number; count: number }[]>();
  for (const { labels, value } of samples.filter((sample) => sample.name === `${name}_bucket`)) {
    const { le, ...others } = labels;
    const key = JSON.stringify(others);
    const bound = le === '+Inf' ? Infinity : Number(le);
    series.set(key, [...(series.get(key) ?? []), { bound, count: value }]);
  }
  for (const [key, buckets] of series) {
    const counts = buckets.sort((a, b) => a.bound - b.bound).map(({ count }) => count);
    if (counts.some((count, i) => count < (counts[i - 1] ?? 0))) throw new Error(`${name}${key} falls`);
    const total = samples.find(
      (sample) => sample.name === `${name}_count` && JSON.stringify(sample.labels) === key,
    );
    if (buckets.at(-1)?.bound !== Infinity || total?.value !== counts.at(-1))
      throw new Error(`${name}${key} has no bucket of all`);
  }
}

function find(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  wanted: Readonly<Record<string, string>>,
): number | undefined {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter(
      (sample) =>
        sample.name === name && Object.entries(wanted).every(([key, value]) => sample.labels[key] === value),
    );
  if (found.length > 1) throw new Error(`${name} with these labels is ${found.length} samples`);
  return found[0]?.value;
}
