// The tarball, as those who run it by npx get it: in an empty project, without the network.
import { execFile, spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const PACKAGE = path.join(__dirname, '..');
const run = promisify(execFile);
let folder: string;
let project: string;
let packed: string[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cli-package-'));
  project = path.join(folder, 'project');
  const staged = path.join(folder, 'staged');
  for (const made of [project, staged]) await mkdir(made);
  for (const file of ['package.json', 'README.md', 'LICENSE'])
    await copyFile(path.join(PACKAGE, file), path.join(staged, file));
  const bundle = path.join(PACKAGE, 'scripts', 'bundle.mjs');
  await run(process.execPath, [bundle, path.join(staged, 'bundle')]);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', staged], { cwd: folder });
  const [tarball] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  packed = tarball?.files.map((file) => file.path).sort() ?? [];
  await writeFile(path.join(project, 'package.json'), '{ "private": true }');
  const quietly = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...quietly, path.join('..', tarball?.filename ?? '')], { cwd: project });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const npx = (...args: string[]) =>
  run('npx', ['--offline', 'lipsync', ...args], {
    cwd: project,
    env: { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: folder },
  });

it('holds the program with the licenses of what is in it, and brings nothing along', async () => {
  const built = [
    'LICENSES.txt',
    'c2pa.js',
    'c2pa.wasm',
    'lipsync.js',
    'log-update.js',
    'mcp-server.js',
    'rolldown-runtime.js',
  ].map((name) => `bundle/${name}`);
  expect(packed).toEqual(['LICENSE', 'README.md', ...built, 'package.json']);
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project });
  expect(stdout.trim().split('\n')).toHaveLength(2);
});

it('runs by its name', async () => {
  const { version } = JSON.parse(await readFile(path.join(PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect((await npx('--version')).stdout).toBe(`${version}\n`);
  expect((await npx('render', '--help')).stdout).toContain('--sync-mode');
  await expect(npx('status', 'ren_1')).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringContaining('lipsync login') as string,
  });
});

it('reads content credentials with what is in it', async () => {
  await writeFile(path.join(project, 'note.mp4'), 'no video at all, but as long as the head of a box');
  await expect(npx('verify', 'note.mp4')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('InvalidAsset') as string,
  });
});

it('serves an agent with what is in it', async () => {
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const server = npx('mcp');
  server.child.stdout?.once('data', () => server.child.stdin?.end());
  server.child.stdin?.write(`${JSON.stringify(initialize)}\n`);
  expect(JSON.parse((await server).stdout)).toMatchObject({
    id: 1,
    result: { serverInfo: { name: 'lipsync' } },
  });
});

/** What a shell prints after `script`, in which the program is found by its name. */
async function inShell(shell: string, script: string) {
  const programs = path.join(project, 'node_modules', '.bin');
  const { stdout } = await run(shell, ['-c', script], {
    cwd: project,
    env: { PATH: `${programs}:${process.env['PATH']}`, HOME: folder },
  });
  return stdout;
}

it('ends without a word when nobody reads on', async () => {
  const piped = 'lipsync --help 2> said | true; echo "${PIPESTATUS[0]} $(cat said)"';
  expect(await inShell('bash', piped)).toBe('0 \n');
});

it('completes in bash', async () => {
  const typed =
    'source <(lipsync completion bash); COMP_WORDS=(lipsync render --sync); COMP_CWORD=2; _lipsync; echo "${COMPREPLY[@]}"';
  expect(await inShell('bash', typed)).toBe('--sync-mode\n');
});

// Few machines have fish.
const whereOffered = spawnSync('fish', ['--version']).status === 0 ? it : it.skip;
whereOffered('completes in fish, words and names of files', async () => {
  const complete = (typed: string) =>
    inShell('fish', `lipsync completion fish | source; complete -C '${typed}'`);
  expect(await complete('lipsync render --sync')).toBe('--sync-mode\twhen the lengths differ\n');
  expect(await complete('lipsync render note')).toBe('note.mp4\n');
});
