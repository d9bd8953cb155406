export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricFamily {
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** The output of a process at one scrape. */
export interface Exposition {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /** The value of the only sample with this name and at least these labels; undefined if there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

/** Reads OpenMetrics' text, as Prometheus' client library writes it. Exemplars are left out. */
export function parseExposition(text: string): Exposition {
  const families = new Map<string, { type: string; samples: Sample[] }>();
  let samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && type !== undefined) {
      samples = [];
      // OpenMetrics names a counter's family without the end of its sample's name.
      families.set(type === 'counter' ? `${name}_total` : name, { type, samples });
    } else if (line !== '' && !line.startsWith('#')) samples.push(parseSample(line));
  }
  return { families, value: (name, labels = {}) => find(families, name, labels) };
}

function parseSample(line: string): Sample {
  const match = /^(\w+)(?:\{([^}]*)\})? (\S+)(?: # .*)?$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = '', labels = '', value] = match;
  const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, key, text]) => [key, text]);
  return {
    name,
    labels: Object.fromEntries(pairs) as Record<string, string>,
    value: value === '+Inf' ? Infinity : Number(value),
  };
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
