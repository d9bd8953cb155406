import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { type RenderRecord, verifyWebhook } from '@lipsync/client';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { listenOnLoopback, makeFaceVideo, makeTone, testFolder } from '@lipsync/testkit';
import { Client, type Progress } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type SharedSystem, shareSystem, whileStopped } from './system';

/** A receiver as developers have it: without TLS, on loopback. */
async function receiveHere() {
  const requests: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      requests.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`;
  return { url, requests, close: () => new Promise((resolve) => server.close(resolve)) };
}

const PROGRAM = path.join(REPOSITORY_ROOT, 'packages', 'cli', 'bundle', 'lipsync.js');

describe('the command, as a customer has it', () => {
  let system: SharedSystem;
  const at = testFolder();
  let env: NodeJS.ProcessEnv;
  const agents: Client[] = [];

  beforeAll(async () => {
    system = await shareSystem();
    env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: at(), XDG_STATE_HOME: at() };
    await makeFaceVideo(at('face.mp4'), { frames: 6, filters: 'null' });
    await makeTone(at('voice.wav'), { seconds: 0.4 });
    const login = lipsync('login', '--base-url', system.description.base_url);
    login.child.stdin?.end(`${system.customer.api_key}\n`);
    await login;
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await system.stop();
  });

  const lipsync = (...args: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, ...args], { cwd: at(), env });

  it('renders into this folder', async () => {
    const { stdout } = await lipsync('render', 'face.mp4', 'voice.wav', '--engines', 'musetalk,highsync');
    expect(stdout).toBe('face.musetalk.mp4\nface.highsync.mp4\n');
    for (const file of stdout.trim().split('\n')) expect((await stat(at(file))).size).toBeGreaterThan(1_000);
  });

  it('verifies what a render says about itself, by the authority of the service', async () => {
    await lipsync('render', 'face.mp4', 'voice.wav', '--out', 'marked.mp4');
    await writeFile(at('authority.pem'), system.stack.state().signing?.authority ?? '');
    const verify = await lipsync('verify', 'marked.mp4', '--trust', 'authority.pem', '--json');
    const sha256 = async (file: string) =>
      createHash('sha256')
        .update(await readFile(at(file)))
        .digest('hex');
    expect(JSON.parse(verify.stdout)).toMatchObject({
      state: 'trusted',
      problems: [],
      generator: expect.stringMatching(/^lipsync-service \d/) as string,
      ingredients: [
        { title: 'video', relationship: 'parentOf', sha256: await sha256('face.mp4') },
        { title: 'voice', relationship: 'componentOf', sha256: await sha256('voice.wav') },
      ],
      actions: [
        { action: 'opened' },
        { action: 'placed' },
        { action: 'edited', agent: expect.stringMatching(/^musetalk ./) as string },
      ],
    });
  });

  it('leaves the render alone when it is interrupted; the user comes back for it', async () => {
    const child = spawn(
      process.execPath,
      [PROGRAM, 'render', 'face.mp4', 'voice.wav', '--out', 'later.mp4'],
      {
        cwd: at(),
        env,
      },
    );
    const ended = once(child, 'exit');
    let said = '';
    for await (const text of child.stderr.setEncoding('utf8')) {
      said += String(text);
      // Once: a second Ctrl-C ends the command at once.
      if (!child.killed && /^Render ren_\w+$/m.test(said)) child.kill('SIGINT');
    }
    expect(await ended).toEqual([130, null]);
    const [, id = ''] = /lipsync wait (ren_\w+)/.exec(said) ?? [];
    expect(JSON.parse((await lipsync('wait', id, '--json')).stdout)).toMatchObject({
      id,
      status: 'completed',
    });
    const { stdout } = await lipsync('download', id, '--out', 'later.mp4', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ engine: 'musetalk', path: 'later.mp4' }] });
    expect((await stat(at('later.mp4'))).size).toBeGreaterThan(1_000);
  });

  it('serves an agent: renders what it names, tells how far that is, saves, cancels and explains', async () => {
    const agent = new Client(
      { name: 'e2e', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const server = { command: process.execPath, args: [PROGRAM, 'mcp'], cwd: at() };
    const environment = env as Record<string, string>;
    await agent.connect(new StdioClientTransport({ ...server, env: environment, stderr: 'ignore' }));
    // Also when an expectation fails: its server would keep the tests from ending.
    agents.push(agent);
    const call = async (name: string, args: object, onprogress?: (told: Progress) => void) =>
      (
        await agent.callTool(
          { name, arguments: { ...args } },
          { timeout: 120_000, ...(onprogress && { onprogress }) },
        )
      ).structuredContent as {
        record: RenderRecord;
        files: object[];
      };

    const told: Progress[] = [];
    const media = { video: 'face.mp4', audio: 'voice.wav' };
    const { record } = await call('render', { ...media, wait_seconds: 100 }, (progress) =>
      told.push(progress),
    );
    expect(record).toMatchObject({
      status: 'completed',
      engines: [{ engine: 'musetalk', status: 'completed' }],
    });
    expect(told.map(({ message }) => message)).toContain('musetalk 100 %, completed');
    const { files } = await call('download', { id: record.id, to: 'agent.mp4' });
    expect((await stat(at('agent.mp4'))).size).toBeGreaterThan(1_000);
    expect(files).toMatchObject([
      { engine: 'musetalk', path: expect.stringContaining('agent.mp4') as string },
    ]);

    const again = { video: record.video_asset_id, audio: record.audio_asset_id, wait_seconds: 0 };
    await whileStopped(system, 'gpu-worker', async () => {
      const { id } = (await call('render', again)).record;
      expect((await call('cancel', { id })).record.status).toBe('cancelled');
    });
    const { content, isError } = await agent.callTool({ name: 'cancel', arguments: { id: record.id } });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toMatch(/this one has finished\. \(render_not_cancellable\)/);
  });

  it('verifies the webhook that the service sent, and tells how its delivery went', async () => {
    const hooks = await system.receive('hooks.example.test');
    const url = 'https://hooks.example.test/lipsync';
    await lipsync('render', 'face.mp4', 'voice.wav', '--out', 'announced.mp4', '--webhook', url);
    await hooks.until(() => hooks.requests.length > 0);
    const [delivery] = hooks.requests;
    const header = (name: string) => ['--header', `${name}: ${String(delivery?.headers[name])}`];
    const headers = [...header('svc-signature'), ...header('svc-delivery-id')];

    const verify = (secret: string, body: string | Buffer) => {
      const command = promisify(execFile)(process.execPath, [PROGRAM, 'webhook', 'verify', ...headers], {
        env: { ...env, LIPSYNC_WEBHOOK_SECRET: secret },
      });
      command.child.stdin?.end(body);
      return command;
    };
    const secret = system.customer.signing_secret;
    const body = delivery?.body ?? '';
    const { stdout } = await verify(`${'0'.repeat(64)},${secret}`, body);
    const [, event = ''] = /^render\.completed (evt_\w+) of ren_\w+/.exec(stdout) ?? [];
    await expect(verify('0'.repeat(64), body)).rejects.toMatchObject({ code: 1 });
    await expect(verify(secret, `${body.toString()} `)).rejects.toMatchObject({ code: 1 });
    expect(JSON.parse((await lipsync('webhook', event, '--json')).stdout)).toMatchObject({
      id: event,
      attempts: 1,
    });

    // The same end, told on this machine: the same bytes, and headers that differ in values alone.
    const local = await receiveHere();
    const [render = ''] = /ren_\w+/.exec(stdout) ?? [];
    await lipsync('webhook', 'listen', '--forward', local.url, '--render', render);
    const [told] = local.requests;
    expect(told?.body).toEqual(body);
    expect(Object.keys(told?.headers ?? {}).sort()).toEqual(Object.keys(delivery?.headers ?? {}).sort());
    await local.close();
    await hooks.close();
  });

  it('tells a receiver on this machine the end of a render that another terminal makes', async () => {
    const local = await receiveHere();
    const listening = spawn(process.execPath, [PROGRAM, 'webhook', 'listen', '--forward', local.url], {
      cwd: at(),
      env,
    });
    const ended = once(listening, 'exit');
    const id = (await lipsync('render', 'face.mp4', 'voice.wav', '--no-wait')).stdout.trim();
    // Ends of other tests' renders can come before.
    let printed = '';
    for await (const text of listening.stdout.setEncoding('utf8')) {
      printed += String(text);
      if (!listening.killed && printed.includes(`render.completed  ${id}  → 204`)) listening.kill('SIGINT');
    }
    expect(await ended).toEqual([0, null]);
    const told = local.requests.find(({ body }) => body.includes(id));
    const secret = (await lipsync('webhook', 'secret')).stdout.trim();
    await expect(verifyWebhook(told?.body ?? '', told?.headers ?? {}, secret)).resolves.toMatchObject({
      type: 'render.completed',
      data: { id, status: 'completed' },
    });
    const made = JSON.parse((await lipsync('list', '--json')).stdout) as unknown[];
    expect(made[0]).toMatchObject({ id, status: 'completed' });
    await local.close();
  });
});
