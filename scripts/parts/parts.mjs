// `npm test -- parts`: the service on real servers, set up by the scripts in deploy/parts, which says what they are.
// Exit status 77: there is nothing here to run it on.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, postgresBinaries, serverUser } from '@lipsync/testkit';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const NAMES = ['postgres', 'pgbouncer', 'redis', 'haproxy', 'nginx', 'versitygw', 'ceph'];
const SKIPPED = 77;

/** Runs a script of deploy/parts; what it printed, or undefined after the reason was printed. */
function answer(name, args, env) {
  const { status, stdout, stderr, error } = spawnSync(
    path.join(ROOT, 'deploy', 'parts', `${name}.sh`),
    args,
    { encoding: 'utf8', env: { ...process.env, ...env } },
  );
  if (status === 0) return stdout.trim();
  console.log(`skipped: ${name}: ${error?.message ?? (stdout.trim() || stderr.trim())}`);
}

if (process.platform !== 'linux') {
  console.log('skipped: the scripts in deploy/parts are for Linux');
  process.exit(SKIPPED);
}
const versions = Object.fromEntries(NAMES.map((name) => [name, answer(name, ['version'])]));
// Below a folder that the servers' own accounts can reach.
const dir = mkdtempSync('/var/tmp/lipsync-parts-');
chmodSync(dir, 0o755);
if (versions.redis === undefined || answer('authority', [], { PARTS_DIR: dir }) === undefined)
  process.exit(SKIPPED);
const binDir = path.dirname((await postgresBinaries(serverUser())).initdb);
const version = answer('postgres', ['version'], { POSTGRES_BIN_DIR: binDir });
const ports = (await freePorts(42)).map(String);

const results = path.join(dir, 'results.json');
const options = ['--selectProjects', 'parts', '--runInBand', '--verbose', '--json', '--outputFile', results];
const { status } = spawnSync(
  path.join(ROOT, 'node_modules', '.bin', 'jest'),
  [...options, ...process.argv.slice(2)],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: path.join(dir, 'tls', 'ca.pem'),
      PARTS_FOUND: JSON.stringify({ versions, embeddedPostgres: { binDir, version }, dir, ports }),
    },
  },
);

const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
for (const { ancestorTitles, title, duration, status: outcome } of testResults.flatMap(
  ({ assertionResults }) => assertionResults,
)) {
  // Not asked for.
  if (outcome === 'pending') continue;
  const [part, what] = title.split(': ');
  const seconds = ((duration ?? 0) / 1000).toFixed(1);
  console.log(
    [ancestorTitles[0].padEnd(13), part.padEnd(18), seconds.padStart(6), outcome.padEnd(7), what].join(' '),
  );
}
const figures = path.join(dir, 'figures');
if (existsSync(figures)) console.log(readFileSync(figures, 'utf8'));
// What failed is to be looked into.
if (status === 0) rmSync(dir, { recursive: true });
else console.log(`data and logs: ${dir}`);
process.exit(status ?? 1);
