import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from './catalogue';
import { type MetricDefinition, SERVICES } from './metric-definition';

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
  it.each(Object.entries<MetricDefinition>(METRICS))(
    '%s keeps its labels when it is scraped',
    (_, { labels }) => {
      for (const label of Object.keys(labels)) expect(LABELS_OF_TARGETS).not.toContain(label);
    },
  );
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
