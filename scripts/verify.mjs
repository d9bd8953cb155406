// `npm test`: every check that a change must pass. `npm test -- unit e2e` runs only the named checks, `npm test -- all`
// also the long ones, and `npm test -- changed` those that can be affected by what was changed since the last commit
// (`--since REF`: since another one).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
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
  format: ['prettier', '--check', '.', '--log-level', 'warn'],
  lint: ['eslint', '.', '--max-warnings', '0'],
  types: ['turbo', 'run', 'typecheck', '--output-logs=errors-only'],
  // Skipped if no Python has torch and onnx: only those who export weights need one.
  exporters: ['node', 'scripts/export/run-tests.mjs'],
};
const TESTS = {
  unit: jest('unit'),
  // One file at a time: they share a stack, and its renders use the whole machine.
  e2e: jest('e2e', '--runInBand'),
  integration: jest('integration'),
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
  options: { since: { type: 'string', default: 'HEAD' } },
  allowPositionals: true,
});
const CHECKS = { ...STATIC_CHECKS, ...TESTS, ...LONG_CHECKS };
const unknown = named.filter((name) => !['all', 'changed'].includes(name) && !(name in CHECKS));
if (unknown.length > 0) {
  const known = [...Object.keys(CHECKS), 'changed', 'all'].join(', ');
  console.error(`unknown check: ${unknown.join(', ')} (there are: ${known})`);
  process.exit(2);
}

const results = named.includes('changed') ? await verifyChanges(values.since) : await verify(named);
console.log('');
for (const { name, outcome, seconds } of results)
  console.log(`${outcome.padEnd(7)}  ${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s`);
process.exit(results.some(({ outcome }) => outcome === 'FAILED') ? 1 : 0);

/**
 * End-to-end and integration tests wait for servers much of the time, so what only computes runs beside them, on one
 * core. Their output is shown as it comes, that of the others when they end.
 */
async function verify(names) {
  const isWanted = (name) =>
    names.includes('all') || (names.length === 0 ? !(name in LONG_CHECKS) : names.includes(name));
  const wanted = (checks) => Object.entries(checks).filter(([name]) => isWanted(name));
  const { unit, ...waitingTests } = TESTS;
  const waiting = wanted(waitingTests);
  const isBeside = waiting.length > 0;
  const [computed, waited] = await Promise.all([
    inTurn(wanted({ ...STATIC_CHECKS, ...(isBeside && { unit: [...unit, '--runInBand'] }) }), 'pipe'),
    inTurn(isBeside ? waiting : wanted({ unit }), 'inherit'),
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
      ...['jest', '--selectProjects', 'unit', 'integration', '--passWithNoTests', '--findRelatedTests'],
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
  for (const [name, [command, ...args]] of checks) {
    if (output === 'inherit') console.log(`\n── ${name}`);
    const startedAt = performance.now();
    const { status, text } = await run(command, args, output);
    if (text !== '' || output === 'pipe') console.log(`\n── ${name}\n${text}`);
    const outcome = status === 0 ? 'passed' : status === SKIPPED ? 'skipped' : 'FAILED';
    done.push({ name, outcome, seconds: (performance.now() - startedAt) / 1000 });
  }
  return done;
}

/** Resolves to the exit status, and to what the command printed if `output` is `pipe`. */
function run(command, args, output) {
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
