// Holds the chart to what is committed of it: lints it, renders every example, and compares with rendered/.
//   node deploy/helm/check.mjs           fails and tells the first difference
//   node deploy/helm/check.mjs --write   renders anew
// HELM names another helm (3 or 4) than the one on the PATH.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const CHART = join(HERE, 'lipsync');
const RENDERED = join(HERE, 'rendered');
const HELM = process.env.HELM ?? 'helm';
/** The oldest that the chart is for; it knows all that the examples use. */
const [, KUBERNETES] = /^kubeVersion: '>=([\d.]+)-0'$/m.exec(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));

function helm(...args) {
  const { status, stdout, stderr, error } = spawnSync(HELM, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  if (error) throw new Error(`${HELM} does not run: ${error.message}`);
  if (status !== 0) throw new Error(`${HELM} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** Template conditions that no example shows: what values must make of the chart. */
const MUST = [
  {
    what: 'alerts lead to the runbook that runbookBase names, every one',
    values: { 'monitoring.enabled': 'true', 'monitoring.runbookBase': 'https://example.com/runbook' },
    holds: (text) => {
      const urls = [...text.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url);
      return urls.length > 20 && urls.every((url) => url.startsWith('https://example.com/runbook#lipsync'));
    },
  },
  {
    what: 'without the ingress nobody is believed about callers',
    values: { 'ingress.enabled': 'false' },
    holds: (text) => /name: TRUSTED_PROXY_HOPS\n +value: "0"/.test(text),
  },
  {
    what: 'a number of proxies that is named holds, also without the ingress',
    values: { 'ingress.enabled': 'false', 'api.trustedProxyHops': '2' },
    holds: (text) => /name: TRUSTED_PROXY_HOPS\n +value: "2"/.test(text),
  },
  {
    what: 'the migration, and nobody else, is given the address past a pooler',
    values: { 'secrets.keys.migrationDatabaseUrl': 'DIRECT_URL' },
    holds: (text) =>
      objectsIn(text).every(
        (object) => object.includes('key: DIRECT_URL\n') === object.includes('\nkind: Job\n'),
      ),
  },
  {
    what: 'the migration, and nobody else, may connect to the Postgres behind a pooler, and not to the pooler',
    values: {
      'networkPolicy.postgres.port': '6432',
      'networkPolicy.migrationPostgres.port': '5433',
      'networkPolicy.migrationPostgres.to[0].ipBlock.cidr': '10.20.3.4/32',
    },
    holds: (text) => {
      const direct = /cidr: 10\.20\.3\.4\/32\n +ports:\n +- port: 5433\n/;
      const egress = objectsIn(text).filter((object) => /^ {2}name: lipsync-.*-egress$/m.test(object));
      return egress.every((object) => {
        const isMigration = object.includes('  name: lipsync-migration-egress\n');
        return direct.test(object) === isMigration && object.includes('- port: 6432\n') !== isMigration;
      });
    },
  },
  {
    what: 'licences that nobody accepted are not accepted by the exporter, whose other values are another Job',
    values: {
      'exporter.enabled': 'true',
      'exporter.licenceAccepted': 'false',
      'exporter.engine': 'highsync',
    },
    holds: (text) => {
      const job =
        objectsIn(text).find((object) => /^ {2}name: lipsync-exporter-[0-9a-f]{8}$/m.test(object)) ?? '';
      return job.includes('/exporter-highsync:') && !job.includes('--licence-accepted');
    },
  },
  {
    what: 'a service reaches Postgres by the key of its own role, and the others by the common one',
    values: { 'secrets.keys.gpuWorkerDatabaseUrl': 'GPU_WORKER_DATABASE_URL' },
    holds: (text) => {
      const keyOf = (component) =>
        objectsIn(text)
          .filter((object) => new RegExp(`^kind: Deployment$[^]*component: ${component}$`, 'm').test(object))
          .map((object) => /name: DATABASE_URL\n[^]*?key: (\w+)/.exec(object)?.[1]);
      return (
        keyOf('gpu-worker').every((key) => key === 'GPU_WORKER_DATABASE_URL') &&
        keyOf('api').every((key) => key === 'DATABASE_URL')
      );
    },
  },
];

/** Objects by kind and name, without blank lines: versions of Helm differ in both. */
function render(values, ...further) {
  const release = ['template', 'lipsync', CHART, '--namespace', 'lipsync', '--kube-version', KUBERNETES];
  const text = helm(...release, '--values', values, ...further);
  const objects = text
    .split(/^---$/m)
    .map((object) => object.replace(/\s+$/gm, '').trim())
    .filter((object) => object !== '');
  const key = (object) => `${/^kind: (.*)$/m.exec(object)?.[1]} ${/^ {2}name: (.*)$/m.exec(object)?.[1]}`;
  objects.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return objects.map((object) => `---\n${object}\n`).join('');
}

/** What `render` has put one after the other. */
function objectsIn(text) {
  return text.split('---\n').slice(1);
}

function firstDifference(wanted, got) {
  const [a, b] = [wanted.split('\n'), got.split('\n')];
  const line = a.findIndex((text, i) => text !== b[i]);
  const at = line < 0 ? a.length : line;
  return `line ${at + 1}:\n- ${a[at] ?? '(end)'}\n+ ${b[at] ?? '(end)'}`;
}

const write = process.argv.includes('--write');
let differs = false;
for (const file of readdirSync(join(CHART, 'examples')).sort()) {
  const values = join(CHART, 'examples', file);
  helm('lint', CHART, '--strict', '--values', values);
  render(values);
  // Rules and dashboard are files of their own, see files/.
  const got = render(
    values,
    ...['--set', 'monitoring.rules=false'],
    ...['--set', 'monitoring.dashboard.enabled=false'],
  );
  const target = join(RENDERED, basename(file));
  if (write) {
    writeFileSync(target, got);
    console.log(`wrote ${basename(file)}`);
    continue;
  }
  const wanted = readFileSync(target, 'utf8');
  if (wanted === got) {
    console.log(`${basename(file)}: as committed`);
  } else {
    differs = true;
    console.error(`${basename(file)} renders differently, ${firstDifference(wanted, got)}`);
  }
}
for (const { what, values, holds } of MUST) {
  const set = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  if (!holds(render(join(CHART, 'examples', 'small.yaml'), ...set))) throw new Error(`not so: ${what}`);
}
if (differs) console.error('node deploy/helm/check.mjs --write, and look at what it changes');
process.exit(differs ? 1 : 0);
