import { clockScale } from './clock-scale';
import { type Dashboard, readDashboard } from './dashboard-file';
import { drawPage } from './draw-page';
import { DASHBOARD_FILE } from './files';
import { formatValue } from './format-value';
import { type Series } from './prometheus-client';
import { scrapeConfig } from './scrape-config';
import { substitute } from './substitute';
import { parseTime, timeRange } from './time-range';
import { valueScale } from './value-scale';

describe('time', () => {
  it('is read relative to now, or as a date', () => {
    expect(parseTime('now', 1000)).toBe(1000);
    expect(parseTime('now-2h', 10_000)).toBe(2800);
    expect(parseTime('2026-11-20T00:00:10Z', 0)).toBe(Date.UTC(2026, 10, 20) / 1000 + 10);
    expect(() => parseTime('yesterday', 0)).toThrow('not a time');
  });

  it('is sampled at whole steps, never more often than it was scraped', () => {
    expect(timeRange(1003, 4602, 15)).toEqual({ from: 990, to: 4605, step: 15 });
    expect(timeRange(0, 86_400, 15).step).toBe(360);
    expect(() => timeRange(5, 5, 1)).toThrow('end after');
  });
});

describe('substitute', () => {
  const range = { from: 0, to: 3600, step: 15 };

  it('replaces variables, and Grafana’s own ones by its rules', () => {
    const query = 'rate(x{engine=~"$engine"}[$__rate_interval]) + ${engine} + increase(y[$__range])';
    expect(substitute(query, { engine: '.*' }, range, 5)).toBe(
      'rate(x{engine=~".*"}[20s]) + .* + increase(y[3600s])',
    );
    expect(substitute('[$__rate_interval]', {}, { ...range, step: 300 }, 15)).toBe('[315s]');
  });

  it('refuses an undefined variable', () => {
    expect(() => substitute('$nothing', {}, range, 5)).toThrow('nothing is given for the variable nothing');
  });
});

describe('formatValue', () => {
  it.each([
    [0.00012, 's', '120 µs'],
    [0.0421, 's', '42.1 ms'],
    [90, 's', '90 s'],
    [7100, 's', '118 min'],
    [0.99951, 'percentunit', '100 %'],
    [1536, 'bytes', '1.5 KiB'],
    [1_250_000, 'Bps', '1.25 MB/s'],
    [0, 'short', '0'],
    [12_345, 'short', '12.3 k'],
    [0.25, 'reqps', '0.25 req/s'],
    [NaN, 's', '–'],
    [Infinity, 's', '∞'],
  ])('shows %p in %s as %s', (value, unit, text) => expect(formatValue(value, unit)).toBe(text));

  it('keeps the requested decimals', () => {
    expect(formatValue(0.99951, 'percentunit', 3)).toBe('99.951 %');
  });
});

describe('ticks', () => {
  const labels = ({ ticks }: ReturnType<typeof valueScale>) => ticks.map(({ label }) => label);

  it('are round, and lie within the range', () => {
    expect(labels(valueScale(0, 0.93, 'short'))).toEqual(['0', '0.25', '0.5', '0.75']);
    expect(labels(valueScale(-3, 2, 'short'))).toEqual(['-2', '0', '2']);
    expect(labels(clockScale({ from: 0, to: 3600, step: 15 }, 6))).toEqual([
      ...['00:00', '00:10', '00:20', '00:30', '00:40', '00:50', '01:00'],
    ]);
  });
});

describe('drawPage', () => {
  const range = { from: 0, to: 60, step: 15 };
  const series = (labels: Record<string, string>, ...values: number[]): Series => ({ labels, values });
  const panel = (type: 'timeseries' | 'stat' | 'heatmap', changes: object = {}) => ({
    ...{ type, title: `A <${type}>`, gridPos: { x: 0, y: 0, w: 8, h: 8 }, options: {} },
    fieldConfig: { defaults: { unit: 's' } },
    targets: [{ refId: 'A', expr: 'up', legendFormat: '{{job}} up' }],
    ...changes,
  });
  const dashboard = (panels: Dashboard['panels']): Dashboard => ({
    ...{ title: 'Test', schemaVersion: 42, templating: { list: [] }, panels },
  });
  const draw = (panels: Dashboard['panels'], answer: Series[]): Promise<string> =>
    drawPage(dashboard(panels), { run: async () => answer, title: (text) => text, name: 'a test' }, range);

  it('draws a line per series, interrupted where values are missing, and names it by its labels', async () => {
    const page = await draw([panel('timeseries')], [series({ job: 'a<b' }, 1, 2, NaN, 4, 5)]);
    expect(page).toContain('A &lt;timeseries&gt;');
    expect(page).toContain('a&lt;b up');
    expect(page.match(/<path d="(M[^"]+)"/)?.[1]?.match(/M/g)).toHaveLength(2);
  });

  it('stacks areas: the second lies on the first', async () => {
    const stacked = { defaults: { unit: 'short', custom: { stacking: { mode: 'normal' } } } };
    const page = await draw(
      [panel('timeseries', { fieldConfig: stacked })],
      [series({ job: 'a' }, 1, 1, 1, 1, 1), series({ job: 'b' }, 1, 1, 1, 1, 1)],
    );
    const heights = [...page.matchAll(/fill="none" stroke="#\w+"/g)].length;
    expect(heights).toBe(2);
    const [lower, upper] = [...page.matchAll(/<path d="M[\d.]+ ([\d.]+)h/g)].map((match) => Number(match[1]));
    expect(upper).toBeLessThan(lower ?? 0);
  });

  it('shows the last value of a stat in the colour of its threshold', async () => {
    const steps = [
      { color: 'green', value: null },
      { color: 'red', value: 3 },
    ];
    const stat = panel('stat', { fieldConfig: { defaults: { unit: 'short', thresholds: { steps } } } });
    expect(await draw([stat], [series({}, 1, 5, NaN)])).toContain('style="color:#c62828">5<');
    expect(await draw([stat], [series({}, 5, 1, NaN)])).toContain('style="color:#1a7f37">1<');
  });

  it('shows the observations in each bucket of a histogram, not the cumulative counts', async () => {
    const page = await draw(
      [panel('heatmap')],
      [
        series({ le: '+Inf' }, 4, 4, 4, 4, 4),
        series({ le: '0.5' }, 4, 4, 4, 4, 4),
        series({ le: '1' }, 4, 4, 4, 4, 4),
      ],
    );
    // All four were below the smallest bound: one row of cells, none in the others.
    expect(page.match(/<rect/g)).toHaveLength(5);
  });

  it('gives a line of zeros an axis that can be read', async () => {
    const page = await draw([panel('timeseries')], [series({ job: 'a' }, 0, 0, 0, 0, 0)]);
    expect(page).toContain('>500 ms</text>');
    expect(page).not.toMatch(/>[^<]*\de-\d/);
  });

  it('divides an axis of bytes by powers of 1024', async () => {
    const bytes = panel('timeseries', { fieldConfig: { defaults: { unit: 'bytes', min: 0 } } });
    const page = await draw([bytes], [series({ job: 'a' }, 0, 0, 0, 0, 190 * 1024 * 1024)]);
    expect(page).toContain('>50 MiB</text>');
    expect(page).toContain('>150 MiB</text>');
  });

  it('says so when there is nothing to show', async () => {
    expect(await draw([panel('timeseries')], [])).toContain('no data');
    expect(await draw([panel('timeseries')], [series({ job: 'a' }, NaN, NaN)])).toContain('no data');
  });

  it('can draw every panel of the service’s own dashboard', async () => {
    const own = readDashboard(DASHBOARD_FILE);
    const fill = (text: string) => substitute(text, { namespace: '.*', engine: '.*' }, range, 5);
    const page = await drawPage(
      own,
      {
        run: async (expr) => {
          fill(expr);
          return [series({ le: '1', queue: 'media' }, 1, 2, 3, 4, 5)];
        },
        title: fill,
        name: 'a test',
      },
      range,
    );
    expect(page.match(/class="panel"/g)).toHaveLength(own.panels.filter(({ type }) => type !== 'row').length);
    expect(page).not.toContain('no data');
    expect(page).not.toMatch(/NaN|undefined/);
  });
});

describe('scrapeConfig', () => {
  it('scrapes each service where its health server listens, and evaluates the rules', () => {
    const config = JSON.parse(
      scrapeConfig([{ name: 'api', pid: 1, health_url: 'http://127.0.0.1:8081/healthz' }], 5),
    ) as object;
    expect(config).toMatchObject({
      global: { scrape_interval: '5s' },
      scrape_configs: [{ job_name: 'api', static_configs: [{ targets: ['127.0.0.1:8081'] }] }],
    });
    expect(JSON.stringify(config)).toContain('lipsync.rules.yaml');
  });
});
