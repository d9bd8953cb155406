// `npm test`: every check that a change must pass, in the order in which a failure is cheapest to find.
// `npm test -- unit e2e` runs only the named checks; `npm test -- all` also runs the long ones.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
// The second contains the pnpm that bootstrap.mjs installs if the machine has none.
const BIN_DIRS = [
  path.join(ROOT, 'node_modules', '.bin'),
  path.join(ROOT, '.local', 'tools', 'node_modules', '.bin'),
];

const jest = (project, ...options) => ['jest', ['--selectProjects', project, ...options]];

const CHECKS = {
  contract: ['node', ['packages/contract/scripts/generate.mjs', '--check']],
  kernels: ['node', ['packages/lipsync/scripts/build-kernels.mjs', '--check']],
  layers: [
    'depcruise',
    [
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
      'packages',
      'services',
      'scripts',
      'prisma',
    ],
  ],
  format: ['prettier', ['--check', '.', '--log-level', 'warn']],
  lint: ['eslint', ['.', '--max-warnings', '0']],
  types: ['turbo', ['run', 'typecheck', '--output-logs=errors-only']],
  // Skipped if no Python has torch and onnx: only those who export weights need one.
  exporters: ['node', ['scripts/export/run-tests.mjs']],
  unit: jest('unit'),
  integration: jest('integration'),
  // Each end-to-end file starts a whole stack: one at a time on a small machine.
  e2e: jest('e2e', '--runInBand'),
};

/** Suites that take long or need programs that bootstrap does not install: run by name, or by `all`. */
const LONG_CHECKS = {
  // On real servers, those that are installed: deploy/parts/README.md.
  parts: ['node', ['scripts/parts.mjs']],
  // Hostile input of every kind against a local stack, with canaries.
  corpora: ['node', ['scripts/dist/corpora.js']],
  // Two short runs under faults; docs/fault-testing.md.
  chaos: ['node', ['scripts/dist/chaos.js', '--seed', '3', '--seed', '14', '--minutes', '1.2']],
};

/** Exit status of a check that cannot run here and has said why. */
const SKIPPED = 77;

const available = { ...CHECKS, ...LONG_CHECKS };
const named = process.argv.slice(2);
const unknown = named.filter((name) => name !== 'all' && !(name in available));
if (unknown.length > 0) {
  console.error(
    `unknown check: ${unknown.join(', ')} (there are: ${Object.keys(available).join(', ')}, all)`,
  );
  process.exit(2);
}
const isWanted = (name) =>
  named.length === 0 ? name in CHECKS : named.includes('all') || named.includes(name);

const results = [];
for (const [name, [command, args]] of Object.entries(available)) {
  if (!isWanted(name)) continue;
  console.log(`\n── ${name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [...BIN_DIRS, process.env.PATH].join(path.delimiter),
      TURBO_TELEMETRY_DISABLED: '1',
      // Node 20 is supported until the SDK drops it; one warning is enough.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  });
  const outcome = status === 0 ? 'passed' : status === SKIPPED ? 'skipped' : 'FAILED';
  results.push({ name, outcome, seconds: (performance.now() - startedAt) / 1000 });
}

console.log('');
for (const { name, outcome, seconds } of results)
  console.log(`${outcome.padEnd(7)}  ${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s`);
process.exit(results.some(({ outcome }) => outcome === 'FAILED') ? 1 : 0);
