import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { eventually, freePorts, makeFaceVideo, makeTone } from '@lipsync/testkit';
import { startSystem, type System } from './system';

const EXAMPLE = path.join(REPOSITORY_ROOT, 'packages', 'client', 'examples', 'nextjs');
const COMMAND = path.join(REPOSITORY_ROOT, 'packages', 'cli', 'bundle', 'lipsync.js');

const run = promisify(execFile);

let system: System;
let folder: string;
let env: NodeJS.ProcessEnv;
let site: string;
let server: ChildProcess | undefined;

beforeAll(async () => {
  system = await startSystem('nextjs');
  folder = path.join(REPOSITORY_ROOT, '.local', `nextjs-${process.pid}`);
  await cp(EXAMPLE, folder, { recursive: true });
  const npm = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--allow-remote=root'];
  await run('npm', npm, { cwd: folder });
  await run('npm', [...npm, `${system.description.base_url}/downloads/lipsync-client.tgz`], { cwd: folder });
  const [port] = await freePorts(1);
  site = `http://127.0.0.1:${port}`;
  env = {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    PORT: String(port),
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
    LIPSYNC_BASE_URL: system.description.base_url,
    LIPSYNC_API_KEY: system.customer.api_key,
  };
  env['LIPSYNC_WEBHOOK_SECRET'] = (await lipsync('webhook', 'secret')).stdout.trim();
  await run('npm', ['run', 'build'], { cwd: folder, env });
  server = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'start'], { cwd: folder, env });
  await eventually(() => fetch(site));
});
afterAll(async () => {
  if (server?.kill() === true) await once(server, 'exit');
  await system.stop();
  await rm(folder, { recursive: true, force: true });
});

const lipsync = (...args: string[]) => run(process.execPath, [COMMAND, ...args], { cwd: folder, env });

async function upload(media: string, file: string): Promise<string> {
  const body = await readFile(path.join(folder, file));
  const response = await fetch(`${site}/api/uploads?media=${media}&name=${file}`, { method: 'PUT', body });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

it('takes a file, renders it, and has the result once a webhook has told of it', async () => {
  await mkdir(folder, { recursive: true });
  await makeFaceVideo(path.join(folder, 'face.mp4'), { frames: 15, filters: 'null' });
  await makeTone(path.join(folder, 'voice.wav'), { seconds: 0.5 });
  const video = await upload('video', 'face.mp4');
  const audio = await upload('audio', 'voice.wav');
  const created = await fetch(`${site}/api/renders`, {
    method: 'POST',
    body: JSON.stringify({ video, audio }),
  });
  const { id } = (await created.json()) as { id: string };
  await lipsync('webhook', 'listen', '--forward', `${site}/webhooks`, '--render', id);
  await eventually(async () => {
    const response = await fetch(`${site}/api/renders/${id}`);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });
});

it('says what the service refused, and believes no event that is not signed', async () => {
  const created = await fetch(`${site}/api/renders`, {
    method: 'POST',
    body: JSON.stringify({
      video: 'ast_00000000000000000000000000',
      audio: 'ast_00000000000000000000000000',
    }),
  });
  expect([created.status, await created.json()]).toEqual([404, { error: expect.any(String) as string }]);
  expect((await fetch(`${site}/webhooks`, { method: 'POST', body: '{}' })).status).toBe(400);
});
