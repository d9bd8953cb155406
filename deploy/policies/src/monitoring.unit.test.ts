import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createMetrics, METRICS } from '@lipsync/telemetry';
import { parseExposition } from '@lipsync/testkit';
import { parse } from 'yaml';

const DEPLOY = path.join(__dirname, '../..');
const read = (...names: string[]): string => readFileSync(path.join(DEPLOY, ...names), 'utf8');

/** What this test looks at in Grafana's dashboard model. */
interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
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

/** Labels that every scrape adds. */
const ADDED_LABELS = ['namespace', 'job', 'instance'];
const SUFFIX = /_(bucket|count|sum)$/;

const queries = [
  ...rules.map(({ expr, alert, record }) => [alert ?? record ?? '', expr] as const),
  // Rows have no targets.
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, expr] as const),
  ),
];

/** Metrics of NVIDIA's DCGM exporter that its default list has, and labels of theirs. */
const OF_DCGM = /^DCGM_FI_(DEV_(XID_ERRORS|GPU_TEMP|POWER_USAGE|FB_USED|FB_FREE)|PROF_GR_ENGINE_ACTIVE)$/;
const DCGM_LABELS = { Hostname: [], gpu: [], container: ['gpu-worker'], exported_container: ['gpu-worker'] };

/** The labels of a metric and their possible values; null if there is no such metric. */
async function labelsOf(metric: string): Promise<Readonly<Record<string, readonly string[]>> | null> {
  if (metric === 'ALERTS') return { alertname: [], alertstate: ['firing', 'pending'] };
  if (OF_DCGM.test(metric)) return DCGM_LABELS;
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
  return new Set(parseExposition(await metrics.text()).families.keys());
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
    const files = readdirSync(path.join(DEPLOY, 'prometheus', 'tests'));
    const tests = files.map((name) => read('prometheus', 'tests', name)).join('\n');
    for (const name of alertNames) expect(tests).toContain(`ALERTS{alertname="${name}",alertstate="firing"`);
  });
});
