import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createStack, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { eventually, listenOnLoopback, makeFaceVideo, makeTone, stopRedis } from '@lipsync/testkit';
import { Client } from 'pg';
import { sharedStack } from './shared-stack';
import { awaitAsset, awaitRender, killHard, startSystem, type System, whileStopped } from './system';

let system: System;
let settings: { serviceEnv: Record<string, string> };
beforeAll(async () => {
  settings = { serviceEnv: { MODEL_PACKS_DIR: sharedStack().packs } };
  system = await startSystem('stack', settings);
});
afterAll(() => system.stop());

const pids = (description: { services: { pid: number | null }[] }) =>
  description.services.map(({ pid }) => pid);

async function query<Row extends object>(text: string, values: string[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: system.description.postgres_url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

describe('a render survives', () => {
  let media: { video: { asset_id: string }; audio: { asset_id: string } };
  beforeAll(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'e2e-stack-'));
    const [face, voice] = [path.join(folder, 'face.mp4'), path.join(folder, 'voice.wav')];
    await makeFaceVideo(face, { frames: 10, filters: 'null' });
    await makeTone(voice, { seconds: 1 });
    const [video, audio] = await Promise.all([
      system.api.uploads.create(face, { mediaType: 'video' }),
      system.api.uploads.create(voice, { mediaType: 'audio' }),
    ]);
    // Nobody reads them from the store again before a render does.
    for (const { id } of [video, audio]) await awaitAsset(system.api, id);
    media = { video: { asset_id: video.id }, audio: { asset_id: audio.id } };
    await rm(folder, { recursive: true });
  });

  const startRender = async (): Promise<string> => {
    const request = { ...media, engines: ['musetalk' as const], sync_mode: 'loop' as const };
    return (await system.api.renders.create({ ...request, webhook_url: system.receiver.url })).id;
  };

  /**
   * Checks that the render completed, emitted one event (`eventFor` refuses a second one), and that it was delivered.
   */
  async function expectOneCompletion(id: string): Promise<void> {
    const record = await awaitRender(system.api, id);
    expect(record.status).toBe('completed');
    const event = await system.receiver.eventFor(id);
    expect(event).toMatchObject({ id: record.webhook_event_id, type: 'render.completed' });
    await eventually(async () => expect((await system.api.webhooks.get(event.id)).status).toBe('delivered'));
  }

  /** How often workers have claimed the render's job. */
  async function claimsOf(renderId: string): Promise<number> {
    const [row] = await query<{ attempts: number }>(
      'SELECT attempts FROM jobs JOIN engine_runs ON engine_runs.id = jobs.engine_run_id WHERE render_id = $1',
      [renderId],
    );
    return row?.attempts ?? 0;
  }

  it('kill -9 of its gpu-worker: another one takes over; and of every other service at once', async () => {
    // Without the store it begins, but cannot end.
    const first = await whileStopped(system, 's3', async () => {
      const id = await startRender();
      await eventually(async () => {
        const { engines } = await system.api.renders.get(id);
        expect(engines?.[0]?.status).toBe('processing');
      });
      await killHard(system, 'gpu-worker');
      return id;
    });
    // The new one has this render to itself until the lease of the first has expired.
    const second = await startRender();
    for (const service of ['media-worker', 'webhook-dispatcher', 'api']) await killHard(system, service);
    await system.up();
    await expectOneCompletion(second);
    await query(
      `UPDATE jobs SET lease_until = now() FROM engine_runs
       WHERE engine_runs.id = jobs.engine_run_id AND render_id = $1 AND jobs.status = 'running'`,
      [first],
    );
    await expectOneCompletion(first);
    expect(await claimsOf(first)).toBeGreaterThan(1);
  });

  it('the absence of Redis: it is accepted, and runs when Redis is back', async () => {
    await stopRedis(system.stack.layout.redisDir);
    const renders = await Promise.all([startRender(), startRender()]);
    await system.up();
    for (const id of renders) await expectOneCompletion(id);
  });
});

describe('the local stack', () => {
  it('answers on loopback, and on no other address of the machine', async () => {
    const ports = Object.entries(system.stack.state().ports);
    expect(ports.map(([name]) => name)).toEqual(expect.arrayContaining(['api', 'apiHealth', 'mediaWorker']));
    expect(await fetch(`${system.description.base_url}/healthz`)).toMatchObject({ status: 200 });
    for (const [name, port] of ports) {
      // Who listens on all addresses listens on this one too; nobody listens on it alone.
      const answers = await fetch(`http://127.0.0.2:${port}/healthz`).then(
        () => name,
        () => null,
      );
      expect(answers).toBeNull();
    }
  });

  it('leaves everything as it is when it is started twice, also at the same time', async () => {
    const before = pids(await system.up());
    const [first, second] = await Promise.all([system.up(), system.up()]);
    expect(pids(first)).toEqual(before);
    expect(pids(second)).toEqual(before);
  });

  it('keeps its data and its customers over a restart, on a port that nobody takes while it is down or starts, and says where before its services do', async () => {
    const { stack, description } = system;
    const asset = await system.api.assets.create({
      url: 'https://media.example.test/missing.mp4',
      media_type: 'video',
    });
    await stack.down();
    expect(pids(stack.describe() ?? { services: [] }).every((pid) => pid === null)).toBe(true);
    expect((await stack.servers()).map(({ pid }) => pid)).toEqual([null, null, null]);

    const early = createServer();
    await listenOnLoopback(early, stack.state().ports.api);
    const late = createServer((socket) => socket.destroy());
    let chosen: number | undefined;
    const isDescribed: boolean[] = [];
    const crossed = createStack({
      ...settings,
      root: stack.layout.root,
      // Its ports have been looked at by then, and the API comes last.
      onProgress: (name, outcome) => {
        if (name === 'api' && outcome === 'started')
          isDescribed.push(existsSync(`${stack.layout.root}.json`));
        if (name !== 's3' || outcome !== 'ready' || chosen !== undefined) return;
        chosen = stack.state().ports.api;
        late.listen(chosen);
      },
    });
    try {
      const { base_url, customers } = await crossed.up();
      const taken = [description.base_url, `http://127.0.0.1:${chosen}`];
      expect(new Set([...taken, base_url]).size).toBe(3);
      expect(isDescribed).toEqual([true, true]);
      expect((await fetch(`${base_url}/healthz`)).status).toBe(200);
      expect((await stack.servers()).every(({ pid }) => pid !== null)).toBe(true);
      expect(customers).toEqual(description.customers);
      expect(await query('SELECT id, media_type FROM assets WHERE id = $1', [asset.id])).toEqual([
        { id: asset.id, media_type: 'video' },
      ]);
    } finally {
      for (const squatter of [early, late]) await new Promise((resolve) => squatter.close(resolve));
    }
  });

  it('leaves nothing behind when it is erased, wherever its Postgres had to put its data', async () => {
    const [place] = await query<{ data_directory: string }>('SHOW data_directory');
    const { root } = system.stack.layout;
    const kept = [root, `${root}.json`, place?.data_directory ?? ''];
    expect(kept.map((path) => existsSync(path))).toEqual([true, true, true]);
    await system.stack.down();
    system.stack.erase();
    expect(kept.map((path) => existsSync(path))).toEqual([false, false, false]);
  });

  it('names the form of a route and starts nothing when it is given another one', async () => {
    const script = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'stack.js');
    const root = path.join(tmpdir(), `e2e-no-stack-${process.pid}`);
    const route = 'media.example.com:443=10.0.0.1:443';
    const refused = promisify(execFile)(process.execPath, [
      ...[script, '--root', root, 'up'],
      ...['--egress-route', route],
    ]);
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--egress-route.* form is host:port=ip:port/) as string,
    });
    expect(existsSync(root)).toBe(false);
  });
});
