// Brings a fresh clone to the point where everything else can run, starting from nothing but some Node: a supported
// Node, system packages, pnpm, packages, generated clients, compiled services, model packs.
// Every step is idempotent and quick when there is nothing to do.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { clearTimeout, setTimeout } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { useSupportedNode } from './supported-node.cjs';
import { packageManifests, ROOT } from './version-places.mjs';

const STATE_FILE = path.join(ROOT, '.local', 'bootstrap.json');
const TOOLS_DIR = path.join(ROOT, '.local', 'tools');

function fail(message) {
  console.error(`bootstrap: ${message}`);
  process.exit(1);
}

/** A step that takes longer than this is announced: an installation can take minutes. */
const ANNOUNCE_AFTER_MS = 1_500;

async function step(label, action) {
  const startedAt = performance.now();
  const announcement = setTimeout(() => console.error(`bootstrap: ${label} …`), ANNOUNCE_AFTER_MS);
  const result = await action();
  clearTimeout(announcement);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (result !== 'nothing to do') console.error(`bootstrap: ${label} took ${seconds} s`);
}

/** Runs a command quietly; on failure prints all its output and exits. */
async function run(command, args, options) {
  const { status, output } = await attempt(command, args, options);
  if (status === 0) return output;
  console.error(output);
  return fail(`\`${command} ${args.join(' ')}\` failed`);
}

async function attempt(command, args, { env = {} } = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const status = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.once('close', resolve);
  });
  return { status, output };
}

/** `name` may also be an absolute path. */
function onPath(name) {
  return (process.env.PATH ?? '').split(path.delimiter).some((directory) => {
    try {
      accessSync(path.resolve(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Programs that no npm package here provides, with the package that contains each, per package manager. */
const PROGRAMS = [
  { name: 'ffmpeg', variable: 'FFMPEG_BIN', apt: 'ffmpeg', brew: 'ffmpeg' },
  { name: 'ffprobe', variable: 'FFPROBE_BIN', apt: 'ffmpeg', brew: 'ffmpeg' },
  { name: 'redis-server', variable: 'REDIS_SERVER_BIN', apt: 'redis-server', brew: 'redis' },
];

async function installPrograms() {
  const missing = PROGRAMS.filter(({ name, variable }) => !process.env[variable] && !onPath(name));
  if (missing.length === 0) return 'nothing to do';
  const names = missing.map(({ name }) => name).join(', ');
  if (onPath('apt-get')) {
    const apt = aptGet();
    if (apt === null) fail(`${names} missing: install them as root (apt-get install ffmpeg redis-server)`);
    const packages = [...new Set(missing.map((program) => program.apt))];
    await run(...apt('update', '-qq'));
    await run(...apt('install', '-y', '-qq', '--no-install-recommends', ...packages));
  } else if (onPath('brew')) {
    await run('brew', ['install', ...new Set(missing.map(({ brew }) => brew))]);
  } else {
    const variables = missing.map(({ variable }) => variable).join(', ');
    fail(
      `${names} missing, and neither apt-get nor brew is here: install them, or name them in ${variables}`,
    );
  }
}

/** Arguments for `run` that call apt-get as root; null where that is not allowed. */
function aptGet() {
  if (process.getuid?.() === 0) return (...args) => ['apt-get', args, APT_ENV];
  // Without a terminal sudo cannot ask for a password, and must not wait for one.
  if (spawnSync('sudo', ['-n', 'apt-get', '--version']).status !== 0) return null;
  return (...args) => ['sudo', ['-n', 'apt-get', ...args], APT_ENV];
}
// Keeps the package's post-install script from starting a system-wide Redis, which is neither needed nor wanted.
const APT_ENV = { env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' } };

/**
 * Installs Chromium if there is no browser for the tests of the studio and Debian's is available: Ubuntu's is a snap,
 * which starts in no container. If there is still none, the tests say what is missing.
 */
export async function installBrowser() {
  await step('installing Chromium', async () => {
    const names = JSON.parse(readFileSync(path.join(ROOT, 'scripts', 'e2e', 'browsers.json'), 'utf8'));
    const isDebian =
      existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));
    const apt = process.env.CHROMIUM_BIN || names.some(onPath) || !isDebian ? null : aptGet();
    if (apt === null) return 'nothing to do';
    await attempt(...apt('update', '-qq'));
    await attempt(...apt('install', '-y', '-qq', '--no-install-recommends', 'chromium'));
  });
}

const MINIMUM_FFMPEG = [5, 1];

/** A build from the development branch has no version number (N-…) and is assumed to be new enough. */
function checkFfmpeg() {
  const program = process.env.FFMPEG_BIN || 'ffmpeg';
  const found = /^ffmpeg version n?(\d+)\.(\d+)/.exec(
    spawnSync(program, ['-version'], { encoding: 'utf8' }).stdout ?? '',
  );
  if (found === null) return;
  const [major, minor] = found.slice(1).map(Number);
  if (major < MINIMUM_FFMPEG[0] || (major === MINIMUM_FFMPEG[0] && minor < MINIMUM_FFMPEG[1]))
    fail(
      `ffmpeg ${MINIMUM_FFMPEG.join('.')} or newer is needed; ${program} is ${major}.${minor} (FFMPEG_BIN names another)`,
    );
}

const rootManifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const PNPM_VERSION = rootManifest.packageManager.split('@')[1];
const PNPM_BIN_DIR = path.join(TOOLS_DIR, 'node_modules', '.bin');

async function installPnpm() {
  const version = (command) =>
    spawnSync(command, ['--version'], { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();
  if (onPath('pnpm') && version('pnpm') === PNPM_VERSION) return 'nothing to do';
  process.env.PATH = `${PNPM_BIN_DIR}${path.delimiter}${process.env.PATH}`;
  if (existsSync(PNPM_BIN_DIR) && version('pnpm') === PNPM_VERSION) return 'nothing to do';
  mkdirSync(TOOLS_DIR, { recursive: true });
  await run('npm', [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--prefix',
    TOOLS_DIR,
    `pnpm@${PNPM_VERSION}`,
  ]);
}

function fingerprint(files) {
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of files) hash.update(file).update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
}

function readState() {
  try {
    return JSON.parse(readFileSync(STATE_FILE, 'utf8'));
  } catch {
    return {};
  }
}

async function installPackages() {
  const packages = fingerprint(['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...packageManifests()]);
  if (readState().packages === packages && existsSync(path.join(ROOT, 'node_modules', '.modules.yaml')))
    return 'nothing to do';
  await run('pnpm', ['install', '--frozen-lockfile', '--reporter=append-only']);
  mkdirSync(path.dirname(STATE_FILE), { recursive: true });
  writeFileSync(STATE_FILE, JSON.stringify({ packages }));
}

async function build() {
  const output = await run(
    path.join(ROOT, 'node_modules', '.bin', 'turbo'),
    ['run', 'build', '--output-logs=errors-only'],
    {
      env: { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
    },
  );
  if (/FULL TURBO/.test(output)) return 'nothing to do';
}

/**
 * `programs`: whether ffmpeg and Redis are required, as they are for everything except a client of a remote service.
 */
export async function bootstrap({ programs }) {
  if (programs) {
    await step('installing system packages', installPrograms);
    checkFfmpeg();
  }
  await step('installing pnpm', installPnpm);
  await step('installing packages', installPackages);
  await step('building the workspace', build);
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await useSupportedNode();
  await bootstrap({ programs: true });
}
