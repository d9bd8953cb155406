// `npm test`: every check that a change must pass. `npm test -- unit e2e` runs only the named checks, `npm test -- all`
// also the long ones, and `npm test -- changed` those that can be affected by what was changed since the last commit
// (`--since REF`: since another one). Workspaces that have passed a check as they are are left out (`--force`: none).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installBrowser } from './bootstrap.mjs';
import { rememberPasses } from './passed-before.mjs';
import { useSupportedNode } from './supported-node.cjs';

await useSupportedNode();

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
// The second contains the pnpm that bootstrap.mjs installs if the machine has none.
const BIN_DIRS = [
  path.join(ROOT, 'node_modules', '.bin'),
  path.join(ROOT, '.local', 'tools', 'node_modules', '.bin'),
];
const ENVIRONMENT = {
  ...process.env,
  PATH: [...BIN_DIRS, process.env.PATH].join(path.delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
};
/** Exit status of a check that cannot run here and has said why. */
const SKIPPED = 77;

const jest = (project, ...options) => ['jest', '--selectProjects', project, ...options];
/** Without the tests in folders of workspaces that have passed, which may be all; reports which workspaces pass now. */
const jestOutside = (project, passed) => [
  ...jest(project, '--passWithNoTests', '--json', '--outputFile', reportOf(project)),
  ...['--testPathIgnorePatterns', '/node_modules/', ...passed.map((folder) => `<rootDir>/${folder}/`)],
];
const reportOf = (project) => path.join(ROOT, '.local', `jest-${project}.json`);

// A check is a command, or a function that makes one. Such a check leaves out the workspaces that have passed it as they
// are.
/** Checks that read the sources, each on one core. */
const STATIC_CHECKS = {
  contract: ['node', 'packages/contract/scripts/generate.mjs', '--check'],
  kernels: ['node', 'packages/kernels/scripts/build-kernels.mjs', '--check'],
  layers: [
    ...['depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
    ...['packages', 'services', 'scripts', 'prisma'],
  ],
  // Skipped if there is no Helm here, and none in the npm registry for this machine.
  chart: ['node', 'deploy/helm/check.mjs'],
  format: ['prettier', '--check', '.', '--log-level', 'warn', '--cache', '--cache-strategy', 'content'],
  lint: (passed) => [
    ...['eslint', '.', '--max-warnings', '0'],
    ...passed.flatMap((folder) => ['--ignore-pattern', `${folder}/**`]),
  ],
  types: ['turbo', 'run', 'typecheck', '--output-logs=errors-only'],
  // Skipped if there is no Python that the client is for.
  python: ['node', 'packages/client-python/scripts/run-tests.mjs'],
  // Skipped if no Python has torch and onnx: only those who export weights need one.
  exporters: ['node', 'scripts/export/run-tests.mjs'],
};
const TESTS = {
  unit: jest('unit'),
  graphs: (passed) => jestOutside('graphs', passed),
  // One file at a time: they share a stack, and its renders use the whole machine.
  e2e: jest('e2e', '--runInBand'),
  integration: (passed) => jestOutside('integration', passed),
};
/** Suites that take long or need programs that bootstrap does not install: run by name, or by `all`. */
const LONG_CHECKS = {
  // Every kind of media, face and pack, where other tests try one of each; and what takes many renders.
  long: jest('long', '--runInBand'),
  // On real servers, those that are installed: deploy/parts/README.md.
  parts: ['node', 'scripts/parts/parts.mjs'],
  // Hostile input of every kind against a local stack, with canaries.
  corpora: ['node', 'scripts/corpora/dist/corpora.js'],
  // Two short runs under faults; docs/fault-testing.md.
  chaos: ['node', 'scripts/chaos/dist/chaos.js', '--seed', '3', '--seed', '14', '--minutes', '1.2'],
  // The published networks at their size with random weights, through the exporters; skipped without upstream's code.
  'full-size': ['node', 'scripts/export/run-full-size.mjs'],
};

const { values, positionals: named } = parseArgs({
  options: { since: { type: 'string', default: 'HEAD' }, force: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const CHECKS = { ...STATIC_CHECKS, ...TESTS, ...LONG_CHECKS };
const unknown = named.filter((name) => !['all', 'changed'].includes(name) && !(name in CHECKS));
if (unknown.length > 0) {
  const known = [...Object.keys(CHECKS), 'changed', 'all'].join(', ');
  console.error(`unknown check: ${unknown.join(', ')} (there are: ${known})`);
  process.exit(2);
}

const lookUp = rememberPasses(ROOT, ENVIRONMENT, { force: values.force });
const results = named.includes('changed') ? await verifyChanges(values.since) : await verify(named);
console.log('');
for (const { name, outcome, seconds, note } of results)
  console.log(
    `${outcome.padEnd(7)}  ${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s  ${note}`.trimEnd(),
  );
process.exit(results.some(({ outcome }) => outcome === 'FAILED') ? 1 : 0);

/**
 * End-to-end and integration tests wait for servers much of the time, so what only computes runs beside them, on one
 * core. Their output is shown as it comes, that of the others when they end.
 */
async function verify(names) {
  const isWanted = (name) =>
    names.includes('all') || (names.length === 0 ? !(name in LONG_CHECKS) : names.includes(name));
  const wanted = (checks) => Object.entries(checks).filter(([name]) => isWanted(name));
  if (isWanted('e2e')) await installBrowser();
  const { unit, graphs, ...waitingTests } = TESTS;
  const waiting = wanted(waitingTests);
  const isBeside = waiting.length > 0;
  const onOneCore = {
    unit: [...unit, '--runInBand'],
    graphs: (passed) => [...graphs(passed), '--runInBand'],
  };
  const [computed, waited] = await Promise.all([
    inTurn(wanted({ ...STATIC_CHECKS, ...(isBeside && onOneCore) }), 'pipe'),
    inTurn(isBeside ? waiting : wanted({ unit, graphs }), 'inherit'),
  ]);
  return [...computed, ...waited, ...(await inTurn(wanted(LONG_CHECKS), 'inherit'))];
}

/** Checks the changed files, and runs the unit and integration tests that import them. */
function verifyChanges(since) {
  const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n');
  const changed = [
    ...git('diff', '--name-only', '--diff-filter=d', since),
    ...git('ls-files', '--others', '--exclude-standard'),
  ].filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
  const scripts = changed.filter((file) => /\.([cm]js|tsx?)$/.test(file));
  const checks = {
    contract: STATIC_CHECKS.contract,
    layers: STATIC_CHECKS.layers,
    chart: STATIC_CHECKS.chart,
    format: ['prettier', '--check', '--ignore-unknown', '--log-level', 'warn', ...changed],
    lint: ['eslint', '--max-warnings', '0', '--no-warn-ignored', ...scripts],
    types: STATIC_CHECKS.types,
    tests: [
      ...['jest', '--selectProjects', 'unit', 'graphs', 'integration'],
      ...['--passWithNoTests', '--findRelatedTests'],
      ...scripts,
    ],
  };
  const needless = [changed.length === 0 && 'format', scripts.length === 0 && ['lint', 'tests']].flat();
  return inTurn(
    Object.entries(checks).filter(([name]) => !needless.includes(name)),
    'inherit',
  );
}

async function inTurn(checks, output) {
  const done = [];
  for (const [name, check] of checks) {
    if (output === 'inherit') console.log(`\n── ${name}`);
    const startedAt = performance.now();
    const known = typeof check === 'function' ? lookUp(name) : undefined;
    rmSync(reportOf(name), { force: true });
    const { status, text } = await run(known ? check(known.passed) : check, output);
    if (text !== '' || output === 'pipe') console.log(`\n── ${name}\n${text}`);
    known?.keep(status === 0 ? known.open : foldersThatPassed(name, known.open));
    const outcome = status === 0 ? 'passed' : status === SKIPPED ? 'skipped' : 'FAILED';
    const note = known?.passed.length ? `${known.passed.length} workspaces unchanged since they passed` : '';
    done.push({ name, outcome, seconds: (performance.now() - startedAt) / 1000, note });
  }
  return done;
}

/** After a failure: the folders in which jest reports that tests ran and passed. */
function foldersThatPassed(name, folders) {
  if (!existsSync(reportOf(name))) return [];
  const { testResults } = JSON.parse(readFileSync(reportOf(name), 'utf8'));
  return folders.filter((folder) => {
    const inside = testResults.filter((file) => file.name.startsWith(path.join(ROOT, folder, path.sep)));
    return inside.length > 0 && inside.every(({ status }) => status === 'passed');
  });
}

/** Resolves to the exit status, and to what the command printed if `output` is `pipe`. */
function run([command, ...args], output) {
  return new Promise((resolve) => {
    const stdio = output === 'pipe' ? ['ignore', 'pipe', 'pipe'] : 'inherit';
    const child = spawn(command, args, { cwd: ROOT, env: ENVIRONMENT, stdio });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    child.once('error', (error) => resolve({ status: 1, text: `${text}${error.message}\n` }));
    child.once('close', (status) => resolve({ status: status ?? 1, text }));
  });
}
