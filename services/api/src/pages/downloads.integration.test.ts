// What callers install from the service, by npm itself, which reaches nothing but the service.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expectContract } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { startApi, type TestApi } from '../../test/start-api';

interface Listed {
  name: string;
  /** Only packages have one. */
  version?: string;
  size_bytes: number;
  sha256: string;
  url: string;
  current_url?: string;
}

const run = promisify(execFile);
let api: TestApi;
let home: string;
let files: readonly Listed[];
const at = (name: string): string => `${api.baseUrl}/downloads/${name}`;
const tarballOf = (packageName: string): Listed => {
  const found = files.find(({ name }) => name.startsWith(`${packageName}-`));
  if (found === undefined) throw new Error(`There is no ${packageName}`);
  return found;
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'downloads-'));
  api = await startApi();
  ({ files } = (await send(at(''), 'GET')).body as { files: Listed[] });
});
afterAll(async () => {
  await api.close();
  await rm(home, { recursive: true });
});

/** The environment of a user without settings and without a registry: nothing listens there. */
const npmEnvironment = () => ({
  PATH: process.env['PATH'],
  HOME: home,
  npm_config_cache: join(home, 'cache'),
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_update_notifier: 'false',
});

it('npm installs the client from the service, and needs no registry', async () => {
  const project = join(home, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true }');
  const options = { cwd: project, env: npmEnvironment() };
  await run('npm', ['install', '--allow-remote=root', at(tarballOf('lipsync-client').name)], options);
  const program = "import('@lipsync/client').then(({ LipSync }) => console.log(typeof LipSync))";
  expect((await run(process.execPath, ['--eval', program], options)).stdout).toBe('function\n');
});

it('npx runs the command from the service', async () => {
  const { name, version } = tarballOf('lipsync-cli');
  const { stdout } = await run('npx', ['--yes', '--allow-remote=root', at(name), '--version'], {
    cwd: home,
    env: npmEnvironment(),
  });
  expect(stdout).toBe(`${version}\n`);
});

it('lists every file with what it needs to be checked, under the public address', async () => {
  expect(files.length).toBeGreaterThanOrEqual(2);
  for (const { name, version, size_bytes: size, sha256, url, current_url: current } of files) {
    const response = await fetch(at(name));
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect({ name, size: bytes.length }).toEqual({ name, size });
    expect(Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')).toBe(sha256);
    for (const saved of [name, name.replace(`-${version}`, '')])
      expect(await (await fetch(at(`${saved}.sha256`))).text()).toBe(`${sha256}  ${saved}\n`);
    const kept = version === undefined ? 'no-cache' : 'public, max-age=31536000, immutable';
    expect(response.headers.get('cache-control')).toBe(kept);
    expect(url).toBe(`https://api.example.com/downloads/${name}`);
    expect(current).toBe(name.endsWith('.whl') ? undefined : url.replace(`-${version}`, ''));
  }
});

it('leads from a name without a version to the file of this version, which a cache asks for again', async () => {
  const { status, headers } = await send(at('lipsync-client.tgz'), 'GET');
  expect([status, headers.get('cache-control')]).toEqual([302, 'no-cache']);
  expect(new URL(headers.get('location') ?? '', at('')).href).toBe(at(tarballOf('lipsync-client').name));
});

it('says which version it has to a caller that wants another one', async () => {
  const answer = await send(at('lipsync-client-0.1.0.tgz'), 'GET');
  expectContract(null, answer);
  expect(answer.status).toBe(404);
  expect(JSON.stringify(answer.body)).toContain(tarballOf('lipsync-client').name);
});
