// Lints the chart, renders every example with the real Helm, and compares with what is committed in rendered/.
//   node deploy/helm/check.mjs           fails and shows the first difference
//   node deploy/helm/check.mjs --write   renders again
// HELM_BIN names a Helm (3 or 4) other than that of the npm registry. Exit status 77: there is none here.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHelm } from './find-helm.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const CHART = join(HERE, 'lipsync');
const RENDERED = join(HERE, 'rendered');
const HELM = findHelm();
/** The oldest that the chart is for; it knows all that the examples use. */
const [, KUBERNETES] = /^kubeVersion: '>=([\d.]+)-0'$/m.exec(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));

/** As in scripts/verify.mjs: cannot run here, and has said why. */
const SKIPPED = 77;
if (HELM === undefined) {
  console.error('The chart needs Helm: put it on the PATH, or name it in HELM_BIN.');
  process.exit(process.env.CI ? 1 : SKIPPED);
}

const EXAMPLES = join(CHART, 'examples');
const SMALL = join(EXAMPLES, 'small.yaml');
/** That somebody accepts the licenses of the weights, which no example may do for its readers. */
const CONSENT = { 'exporter.licenseAccepted': true };
const EXPORTER = { 'exporter.enabled': true, ...CONSENT };
const TWO_MORE_POOLS = {
  'engines[1].name': 'second',
  'engines[1].serves[0]': 'musetalk',
  'engines[2].name': 'third',
  'engines[2].serves[0]': 'musetalk',
};

/** What must hold for values that no example has. */
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
    what: 'an exporter with another bucket is another Job: the pod of the one that is there cannot be changed',
    values: { ...EXPORTER, 's3.bucket': 'other' },
    holds: (text) => {
      const jobs = [text, render(SMALL, EXPORTER)].flatMap((each) =>
        each.match(/^ {2}name: lipsync-exporter-.*/m),
      );
      return jobs.length === 2 && jobs[0] !== jobs[1];
    },
  },
  {
    what: 'names of values before 1.1 mean the same',
    values: {
      ...TWO_MORE_POOLS,
      'gpuWorker.flavour': 'cpu',
      'engines[2].flavour': 'cuda',
      'exporter.enabled': true,
      'exporter.licenceAccepted': true,
    },
    holds: (text) =>
      text ===
      render(SMALL, {
        ...TWO_MORE_POOLS,
        'gpuWorker.flavor': 'cpu',
        'engines[2].flavor': 'cuda',
        ...EXPORTER,
      }),
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
function render(example, values = {}) {
  const release = ['template', 'lipsync', CHART, '--namespace', 'lipsync', '--kube-version', KUBERNETES];
  const text = run(HELM, ...release, '--values', example, ...options(values));
  const objects = text
    .split(/^---$/m)
    .map((object) => object.replace(/\s+$/gm, '').trim())
    .filter((object) => object !== '');
  const key = (object) => `${/^kind: (.*)$/m.exec(object)?.[1]} ${/^ {2}name: (.*)$/m.exec(object)?.[1]}`;
  objects.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return objects.map((object) => `---\n${object}\n`).join('');
}

/** Why the chart refuses an example; empty if it does not. */
function refusalOf(example) {
  try {
    render(example);
  } catch (error) {
    return error.message;
  }
  return '';
}

/** The options of Helm that set these values, by their dotted names. */
function options(values) {
  return Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
}

/** The objects in what `render` returned. */
function objectsIn(text) {
  return text.split('---\n').slice(1);
}

function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (error) throw new Error(`${program} does not run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

function firstDifference(wanted, got) {
  const [a, b] = [wanted.split('\n'), got.split('\n')];
  const line = a.findIndex((text, i) => text !== b[i]);
  const at = line < 0 ? a.length : line;
  return `line ${at + 1}:\n- ${a[at] ?? '(end)'}\n+ ${b[at] ?? '(end)'}`;
}

/** The files of the chart that its package lacks. */
function missingInPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  run(HELM, 'package', CHART, '--destination', folder);
  const packed = run('tar', '-tzf', join(folder, readdirSync(folder)[0])).split('\n');
  rmSync(folder, { recursive: true });
  return readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dirname(CHART), join(entry.parentPath, entry.name)))
    .filter((file) => !packed.includes(file));
}

const write = process.argv.includes('--write');
const faults = [];
for (const file of readdirSync(EXAMPLES).sort()) {
  const example = join(EXAMPLES, file);
  run(HELM, 'lint', CHART, '--strict', '--values', example, ...options(CONSENT));
  render(example, CONSENT);
  // Rules and dashboard are files of their own, see files/.
  const files = { 'monitoring.rules': false, 'monitoring.dashboard.enabled': false };
  const got = render(example, { ...CONSENT, ...files });
  const target = join(RENDERED, file);
  if (write) writeFileSync(target, got);
  const wanted = readFileSync(target, 'utf8');
  if (wanted !== got)
    faults.push(
      `${file} renders differently, ${firstDifference(wanted, got)}\nRun node deploy/helm/check.mjs --write, and look at what it changes`,
    );
}
for (const { what, values, holds } of MUST) if (!holds(render(SMALL, values))) faults.push(`not so: ${what}`);
if (!refusalOf(join(EXAMPLES, 'large.yaml')).includes('set exporter.licenseAccepted: true'))
  faults.push(
    'large.yaml accepts licenses that nobody has read, or the chart does not say how to accept them',
  );
for (const file of missingInPackage()) faults.push(`the packaged chart lacks ${file}`);
for (const fault of faults) console.error(fault);
console.log(`Helm ${run(HELM, 'version', '--template', '{{ .Version }}')}: faults: ${faults.length}`);
process.exit(faults.length === 0 ? 0 : 1);
