import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { disposeRun } from '../test-run';
import { reachablePath, serverUser, startPostgres, stopPostgres } from './postgres-server';
import { startRedis, stopRedis } from './redis-server';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('servers', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'lipsync-servers-'));
    chmodSync(directory, 0o755);
  });
  afterEach(async () => {
    await Promise.all([stopPostgres(join(directory, 'postgres')), stopRedis(join(directory, 'redis'))]);
    rmSync(directory, { recursive: true, force: true });
  });

  it('Postgres starts once per directory, asks for its password, and finds its data again', async () => {
    const options = { dataDir: join(directory, 'postgres'), durable: false };
    const first = await startPostgres(options);
    expect((await startPostgres(options)).url).toBe(first.url);
    await query(first.url, 'CREATE TABLE kept (id int)');
    const stranger = new URL(first.url);
    stranger.password = 'guess';
    await expect(query(stranger.toString(), 'SELECT 1')).rejects.toThrow('password');
    await stopPostgres(options.dataDir);
    await expect(query(first.url, 'SELECT 1')).rejects.toThrow();
    const second = await startPostgres({ ...options, port: first.port });
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT * FROM kept')).toEqual([]);
  });

  it('Postgres starts again after it was killed', async () => {
    const options = { dataDir: join(directory, 'postgres') };
    const first = await startPostgres(options);
    process.kill(first.pid, 'SIGKILL');
    await expect(query(first.url, 'SELECT pg_sleep(10)')).rejects.toThrow();
    const second = await startPostgres(options);
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('Redis starts once per directory and keeps its data if told to', async () => {
    const options = { dataDir: join(directory, 'redis'), durable: true };
    const first = await startRedis(options);
    expect((await startRedis(options)).pid).toBe(first.pid);
    const client = new Redis(first.url, { disconnectTimeout: 50 });
    await client.set('kept', 'yes');
    client.disconnect();
    await stopRedis(options.dataDir);
    const second = await startRedis({ ...options, port: first.port });
    const again = new Redis(second.url, { disconnectTimeout: 50 });
    expect(await again.get('kept')).toBe('yes');
    again.disconnect();
  });

  it('stopping a server that is not running is not an error', async () => {
    await stopPostgres(join(directory, 'nothing'));
    await stopRedis(join(directory, 'nothing'));
    expect(existsSync(join(directory, 'nothing'))).toBe(false);
  });

  it('nothing remains of a finished run, even if Postgres could not access its directory', async () => {
    const closed = mkdtempSync(join(directory, 'closed-'));
    const dataDir = join(closed, 'postgres');
    const reachable = reachablePath(dataDir, serverUser());
    await startPostgres({ dataDir, durable: false });
    expect(existsSync(reachable)).toBe(true);
    await disposeRun(closed);
    expect([closed, reachable, `${reachable}.log`].filter((path) => existsSync(path))).toEqual([]);
  });

  it('a path that the server account cannot access is replaced by one that it can, always the same', () => {
    const closed = mkdtempSync(join(directory, 'closed-'));
    const stranger = { uid: 65_533, gid: 65_533 };
    expect(reachablePath(join(directory, 'postgres'), stranger)).toBe(join(directory, 'postgres'));
    const substitute = reachablePath(join(closed, 'postgres'), stranger);
    expect(substitute.startsWith(directory)).toBe(false);
    expect(reachablePath(join(closed, 'postgres'), stranger)).toBe(substitute);
    expect(reachablePath(join(closed, 'postgres'), undefined)).toBe(join(closed, 'postgres'));
  });
});
