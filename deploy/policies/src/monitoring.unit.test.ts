import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createMetrics, METRICS } from '@lipsync/telemetry';
import { parse } from 'yaml';

const DEPLOY = path.join(__dirname, '../..');
const read = (...names: string[]): string => readFileSync(path.join(DEPLOY, ...names), 'utf8');

/** What this test looks at in Grafana's dashboard model. */
interface Dashboard {
  schemaVersion: number;
  panels: (
    | { type: 'row' }
    | {
        type: 'timeseries' | 'stat' | 'heatmap';
        title: string;
        gridPos: { x: number; y: number; w: number; h: number };
        targets: { expr: string }[];
      }
  )[];
}

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const { groups } = parse(read('helm', 'lipsync', 'files', 'lipsync.rules.yaml')) as {
  groups: { name: string; rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter((rule) => rule.alert !== undefined);
const alertNames = [...new Set(alerts.map(({ alert = '' }) => alert))];
const dashboard = JSON.parse(read('helm', 'lipsync', 'files', 'lipsync-dashboard.json')) as Dashboard;
const runbook = read('README.md');

/** Labels that every scrape adds, and those of firing alerts. */
const ADDED_LABELS = ['namespace', 'job', 'instance'];
/** Labels that the Prometheus operator also adds: rules must not need them, and the tests show that they do no harm. */
const OPERATOR_LABELS = ['service', 'pod', 'container', 'endpoint'];
const SUFFIX = /_(bucket|count|sum)$/;

interface RuleTest {
  readonly name: string;
  readonly input_series: readonly { readonly series: string }[];
}

const testFiles = readdirSync(path.join(DEPLOY, 'prometheus', 'tests')).map((name) =>
  read('prometheus', 'tests', name),
);
const ruleTests = testFiles.flatMap((text) => (parse(text) as { tests: RuleTest[] }).tests);

const queries = [
  ...rules.map(({ expr, alert, record }) => [alert ?? record ?? '', expr] as const),
  ...dashboard.panels.flatMap((panel) =>
    panel.type === 'row' ? [] : panel.targets.map(({ expr }) => [`panel ${panel.title}`, expr] as const),
  ),
];

/** The labels of a metric and their possible values; null if there is no such metric. */
async function labelsOf(metric: string): Promise<Readonly<Record<string, readonly string[]>> | null> {
  if (metric === 'ALERTS') return { alertname: [], alertstate: ['firing', 'pending'] };
  if (rules.some(({ record }) => record === metric)) return {};
  const histogram = Object.entries(METRICS).find(
    ([name, { type }]) => type === 'histogram' && `lipsync_${name}` === metric.replace(SUFFIX, ''),
  );
  if (histogram && SUFFIX.test(metric)) {
    const [, { labels, buckets }] = histogram as [string, { labels: object; buckets?: readonly number[] }];
    const le = metric.endsWith('_bucket')
      ? { le: [...(buckets ?? []).flatMap((bound) => [String(bound), stored(bound)]), '+Inf'] }
      : {};
    return { ...labels, ...le };
  }
  const plain = Object.entries(METRICS).find(([name]) => `lipsync_${name}` === metric);
  if (plain) return plain[1].type === 'histogram' ? null : plain[1].labels;
  return (await processMetrics()).has(metric) ? {} : null;
}

/** How Prometheus 3 stores a bucket's bound, however it was scraped: whole numbers with a decimal. */
function stored(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

async function processMetrics(): Promise<Set<string>> {
  const metrics = createMetrics();
  metrics.addProcessMetrics();
  const text = await metrics.text();
  return new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
}

function canMatch({ operator, value }: Matcher, values: readonly string[]): boolean {
  if (values.length === 0 || value.includes('$')) return true;
  if (operator === '=' || operator === '!=') return values.includes(value);
  // Every alternative must match something: a value that does not exist is a misspelling.
  return value.split('|').every((each) => values.some((known) => new RegExp(`^(?:${each})$`).test(known)));
}

/** Whether a matcher accepts this value of its label. */
function takes({ operator, value }: Matcher, own: string): boolean {
  const same = operator.includes('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
  return operator.startsWith('!') ? !same : same;
}

interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  /** Unescaped. */
  readonly value: string;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** The names that an expression refers to. */
interface PromqlNames {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly groupingLabels: readonly string[];
}

const KEYWORDS = new Set([
  ...['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'],
  ...['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'],
]);
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const NAME = /([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g;
/** A string with the operator that compares a label with it; a string without one is a function argument. */
const STRING = /([=~]\s*)?"(?:[^"\\]|\\.)*"/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;

/**
 * The metrics and labels of a PromQL expression. This is not a parser: Prometheus' own checks validity, this only finds
 * the names in valid expressions.
 */
function promqlNames(expression: string): PromqlNames {
  const groupingLabels = [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  );
  const rest = expression
    .replace(GROUPING, ' ')
    .replace(STRING, (text, compared?: string) => (compared === undefined ? ' ' : text))
    .replace(/\[[^\]]*\]/g, ' ');
  const selectors = [...rest.matchAll(NAME)].flatMap(([, metric = '', behind = '']) =>
    behind === '(' || KEYWORDS.has(metric.toLowerCase()) ? [] : [{ metric, matchers: matchers(behind) }],
  );
  return { selectors, groupingLabels: groupingLabels.filter((label) => label !== '') };
}

function matchers(braces: string): Matcher[] {
  return [...braces.matchAll(MATCHER)].map(([, label = '', operator, value = '']) => ({
    label,
    operator: operator as Matcher['operator'],
    value: value.replace(/\\(.)/g, '$1'),
  }));
}

describe('rules and dashboard', () => {
  it.each(queries)('%s uses only metrics, labels and values that the services export', async (_, expr) => {
    const { selectors, groupingLabels } = promqlNames(expr);
    expect(selectors.length).toBeGreaterThan(0);
    const known = new Set(ADDED_LABELS);
    for (const { metric, matchers } of selectors) {
      const labels = await labelsOf(metric);
      expect({ metric, exists: labels !== null }).toEqual({ metric, exists: true });
      for (const label of Object.keys(labels ?? {})) known.add(label);
      for (const matcher of matchers) {
        const values = ADDED_LABELS.includes(matcher.label) ? [] : labels?.[matcher.label];
        expect({ metric, matcher, possible: values !== undefined && canMatch(matcher, values) }).toEqual({
          metric,
          matcher,
          possible: true,
        });
      }
    }
    for (const label of groupingLabels) expect([...known]).toContain(label);
  });

  it('query buckets both as Prometheus 2 and as Prometheus 3 stores them', () => {
    const bounds = new Set(
      Object.values(METRICS).flatMap((metric): readonly number[] =>
        'buckets' in metric ? metric.buckets : [],
      ),
    );
    const asked = queries
      .flatMap(([, expr]) => promqlNames(expr).selectors)
      .flatMap(({ matchers }) => matchers.filter(({ label }) => label === 'le'));
    expect(asked.length).toBeGreaterThan(0);
    for (const matcher of asked)
      for (const bound of bounds)
        expect({ matcher, bound, taken: takes(matcher, stored(bound)) }).toEqual({
          matcher,
          bound,
          taken: takes(matcher, String(bound)),
        });
  });
});

describe('tests of the rules', () => {
  it.each(ruleTests.map((test) => [test.name, test] as const))(
    '%s: uses only what the services can export',
    async (_, { input_series }) => {
      for (const { series } of input_series) {
        const [selector] = promqlNames(series).selectors;
        const labels = await labelsOf(selector?.metric ?? '');
        expect({ series, exists: labels !== null }).toEqual({ series, exists: true });
        for (const { label, value } of selector?.matchers ?? []) {
          if ([...ADDED_LABELS, ...OPERATOR_LABELS].includes(label)) continue;
          const values = labels?.[label];
          const possible = values !== undefined && (values.length === 0 || values.includes(value));
          expect({ series, label, possible }).toEqual({ series, label, possible: true });
        }
      }
    },
  );
});

describe('alerts', () => {
  it.each(alerts.map((rule) => [rule.alert ?? '', rule] as const))(
    '%s states its severity, its meaning and where to find help',
    (name, { labels, annotations }) => {
      expect(['critical', 'warning']).toContain(labels?.['severity']);
      expect(annotations?.['summary']).toMatch(/\S/);
      expect(annotations?.['description']).toMatch(/\S/);
      expect(annotations?.['runbook_url']).toBe(`deploy/README.md#${name.toLowerCase()}`);
    },
  );

  it('each have a section in the runbook, and each alert section has its alert', () => {
    const sections = [...runbook.matchAll(/^#+ (Lipsync\w+)$/gm)].map(([, name = '']) => name);
    expect([...sections].sort()).toEqual([...alertNames].sort());
  });

  it('each have a test of when they fire', () => {
    const tests = testFiles.join('\n');
    for (const name of alertNames) expect(tests).toContain(`ALERTS{alertname="${name}",alertstate="firing"`);
  });
});

describe('dashboard', () => {
  it('has the schema of Grafana 12 and panels that do not overlap', () => {
    expect(dashboard.schemaVersion).toBe(42);
    const taken = new Set<string>();
    for (const panel of dashboard.panels) {
      if (panel.type === 'row') continue;
      const { x, y, w, h } = panel.gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column++)
        for (let line = y; line < y + h; line++) {
          expect(taken).not.toContain(`${column},${line}`);
          taken.add(`${column},${line}`);
        }
    }
  });
});

describe('promqlNames', () => {
  it('distinguishes metrics from functions, keywords and labels', () => {
    expect(
      promqlNames(
        'max by (a) (histogram_quantile(0.5, sum by (le) (rate(x_bucket{q="1",r=~"b|c\\\\.d"}[5m])))) unless on (d) label_replace(y, "e", "f", "", "") > 3',
      ),
    ).toEqual({
      selectors: [
        {
          metric: 'x_bucket',
          matchers: [
            { label: 'q', operator: '=', value: '1' },
            { label: 'r', operator: '=~', value: 'b|c\\.d' },
          ],
        },
        { metric: 'y', matchers: [] },
      ],
      groupingLabels: ['a', 'le', 'd'],
    });
  });
});
