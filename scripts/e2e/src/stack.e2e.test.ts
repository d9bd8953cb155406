import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createStack, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { listenOnLoopback } from '@lipsync/testkit';
import { Client } from 'pg';
import { startSystem, type System } from './system';

jest.setTimeout(240_000);

describe('the local stack', () => {
  let system: System;

  beforeAll(async () => {
    system = await startSystem('stack');
  });
  afterAll(() => system.stop());

  const pids = (description: { services: { pid: number | null }[] }) =>
    description.services.map(({ pid }) => pid);

  it('answers on loopback, and on no other address of the machine', async () => {
    const ports = Object.entries(system.stack.state()?.ports ?? {});
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
    const before = pids(system.description);
    const [first, second] = await Promise.all([system.up(), system.up()]);
    expect(pids(first)).toEqual(before);
    expect(pids(second)).toEqual(before);
  });

  it('keeps its data and its customers over a restart', async () => {
    const asset = await system.api.createAsset({
      url: 'https://media.example.test/missing.mp4',
      media_type: 'video',
    });
    await system.stack.down();
    expect(pids(system.stack.describe() ?? { services: [] }).every((pid) => pid === null)).toBe(true);
    expect((await system.stack.servers()).map(({ pid }) => pid)).toEqual([null, null, null]);
    const again = await system.up();
    expect((await system.stack.servers()).map(({ pid }) => typeof pid)).toEqual([
      'number',
      'number',
      'number',
    ]);
    expect(again.customers).toEqual(system.description.customers);
    expect(await system.api.getAsset(asset.id)).toMatchObject({ id: asset.id, media_type: 'video' });
  });

  it('moves to another port when its own was taken while it was down', async () => {
    await system.stack.down();
    const squatter = createServer();
    await listenOnLoopback(squatter, Number(new URL(system.description.base_url).port));
    try {
      const { base_url } = await system.up();
      expect(base_url).not.toBe(system.description.base_url);
      expect((await fetch(`${base_url}/readyz`)).status).toBe(200);
    } finally {
      await new Promise((resolve) => squatter.close(resolve));
    }
  });

  it('moves to another port when its own is taken as it starts', async () => {
    const { stack } = system;
    const port = stack.state()?.ports.api;
    await stack.down();
    const squatter = createServer((socket) => socket.destroy());
    const crossed = createStack({
      root: stack.layout.root,
      // Its ports have been looked at by then, and the API comes last.
      onProgress: (name, outcome) => {
        if (name === 's3' && outcome === 'ready' && !squatter.listening) squatter.listen(port);
      },
    });
    try {
      const { base_url } = await crossed.up();
      expect(squatter.listening).toBe(true);
      expect(base_url).not.toBe(`http://127.0.0.1:${port}`);
      expect((await fetch(`${base_url}/readyz`)).status).toBe(200);
    } finally {
      await new Promise((resolve) => squatter.close(resolve));
    }
  });

  it('serves the contract and a page that explains it', async () => {
    const { base_url } = await system.up();
    const document = (await (await fetch(`${base_url}/openapi.json`)).json()) as {
      openapi: string;
      info: object;
    };
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    const page = await fetch(`${base_url}/docs`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
  });

  it('leaves nothing behind when it is erased, wherever its Postgres had to put its data', async () => {
    const { postgres_url: connectionString } = await system.up();
    const database = new Client({ connectionString });
    await database.connect();
    const { rows } = await database.query<{ data_directory: string }>('SHOW data_directory');
    await database.end();
    const kept = [system.stack.layout.root, ...rows.map((row) => row.data_directory)];
    expect(kept.map((path) => existsSync(path))).toEqual([true, true]);
    await system.stack.down();
    system.stack.erase();
    expect(kept.map((path) => existsSync(path))).toEqual([false, false]);
  });

  it.each([['garbage'], ['media.example.com:443=10.0.0.1:443']])(
    'names the form of a route and starts nothing when it is given %s for one',
    async (route) => {
      const script = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'stack.js');
      const root = path.join(tmpdir(), `e2e-no-stack-${process.pid}`);
      const refused = promisify(execFile)(process.execPath, [
        ...[script, '--root', root, 'up'],
        ...['--egress-route', route],
      ]);
      await expect(refused).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/--egress-route.* form is host:port=ip:port/) as string,
      });
      expect(existsSync(root)).toBe(false);
    },
  );
});
