import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '@lipsync/testkit';

const REPOSITORY_ROOT = path.join(__dirname, '../../..');
const MODULE = 'scripts/supported-node.cjs';
// eslint-disable-next-line @typescript-eslint/no-require-imports -- it is JavaScript for old versions of Node, without types
const { isSupported } = require(path.join(REPOSITORY_ROOT, MODULE)) as {
  isSupported: (version: string) => boolean;
};
const textOf = (file: string): string => readFileSync(path.join(REPOSITORY_ROOT, file), 'utf8');
const FETCHED = /const VERSION = '(.+)'/.exec(textOf(MODULE))?.[1] ?? '';

describe('a version of Node', () => {
  it.each(['22.18.0', '22.23.3', '24.11.0', '26.0.0', '27.1.0'])('is supported: %s', (version) => {
    expect(isSupported(version)).toBe(true);
  });

  it.each(['16.20.2', '20.20.2', '22.17.1', '23.11.1', '24.10.0', '25.9.0'])(
    'is not supported: %s',
    (version) => {
      expect(isSupported(version)).toBe(false);
    },
  );

  it('is supported if the images or the commands bring it along', () => {
    const [, inImages = ''] =
      /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(textOf('deploy/docker/Dockerfile')) ?? [];
    expect([inImages, FETCHED].map(isSupported)).toEqual([true, true]);
  });
});

describe('a program that is started by an old Node', () => {
  let root: string;
  let place: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'old-node-'));
    place = path.join(root, '.local', 'tools', `node-${FETCHED}`, 'bin');
    for (const file of ['package.json', MODULE])
      cpSync(path.join(REPOSITORY_ROOT, file), path.join(root, file));
    writeFileSync(path.join(root, 'old.cjs'), OLD);
    writeFileSync(path.join(root, 'program.mjs'), PROGRAM);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function start(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, ['--require', './old.cjs', 'program.mjs', ...args], {
      argv0: 'old',
      cwd: root,
      env: { ...process.env, ...env },
    });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { child, ended: ended.then(([stdout, stderr]) => ({ stdout, stderr, status: child.exitCode })) };
  }

  it('continues in the supported one that was fetched, which its children find first', async () => {
    mkdirSync(place, { recursive: true });
    symlinkSync(process.execPath, path.join(place, 'node'));
    const { ended } = start(['7', 'two words']);
    const told = JSON.stringify([['7', 'two words'], place]);
    expect(await ended).toEqual({ stdout: `${told}\n`, stderr: '', status: 7 });
  });

  it('ends as it decides when it is asked to stop', async () => {
    mkdirSync(place, { recursive: true });
    symlinkSync(process.execPath, path.join(place, 'node'));
    const { child, ended } = start(['wait']);
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ status: 15 });
  });

  it('refuses anything but the Node that is pinned, and leaves nothing of it behind', async () => {
    const registry = createServer(({ url = '', headers }, response) => {
      if (url.endsWith('.tgz')) return response.end('something else');
      const dist = { tarball: `http://${headers.host}${url}/${FETCHED}.tgz` };
      const versions = { [FETCHED]: { name: url.slice(1), version: FETCHED, dist } };
      response.end(JSON.stringify({ name: url.slice(1), versions }));
    });
    const port = await listenOnLoopback(registry);
    const env = {
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: path.join(root, 'cache'),
      npm_config_fetch_retries: '0',
    };
    const { status, stderr } = await start([], env).ended;
    registry.close();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Node 20\.20\.2 is not supported .*: fetching .* into \.local\/tools …\n/);
    expect(stderr).toContain('EINTEGRITY');
    expect(readdirSync(path.dirname(path.dirname(place)))).toEqual([]);
  });
});

/** Only the old Node is started under this name. */
const OLD = `if (process.argv0 === 'old')
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`;

const PROGRAM = `import { delimiter } from 'node:path';
import { useSupportedNode } from './scripts/supported-node.cjs';
await useSupportedNode();
const args = process.argv.slice(2);
process.once('SIGTERM', () => process.exit(15));
console.log(JSON.stringify([args, process.env.PATH.split(delimiter)[0]]));
if (args[0] === 'wait') setInterval(() => undefined, 1_000);
else process.exit(Number(args[0]));`;
