import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './ports';
import { isAlive, waitUntil } from './processes';

/** Tells other processes the port of the server of a directory. */
const PORT_FILE = 'port';

export interface RedisOptions {
  dataDir: string;
  /** By default a free loopback port. */
  port?: number;
  /** Keeps an append-only file, so that a restart loses at most the last second. */
  durable?: boolean;
  detached?: boolean;
  logFile?: string;
}

export interface RunningRedis {
  url: string;
  port: number;
  pid: number;
  /** Orderly shutdown. */
  stop(): Promise<void>;
}

/** Starts redis-server (REDIS_SERVER_BIN, else PATH) on loopback, or returns the one that runs on this directory. */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = realpathSync(options.dataDir);
  const running = await serverOf(dataDir);
  if (running) return running;
  const port = options.port ?? (await freePort());
  const logFile = options.logFile ?? join(dataDir, 'redis.log');
  writeFileSync(join(dataDir, PORT_FILE), String(port));
  const log = openSync(logFile, 'a');
  const program = process.env['REDIS_SERVER_BIN'] ?? 'redis-server';
  const child = spawn(program, serverFlags(dataDir, port, options.durable ?? false), {
    stdio: ['ignore', log, log],
    detached: options.detached ?? false,
  });
  closeSync(log);
  child.unref();
  let failure: string | undefined;
  child.once('error', (error) => (failure = error.message));
  child.once('exit', () => (failure ??= readFileSync(logFile, 'utf8').slice(-2000)));
  return waitUntil('Redis start', async () => {
    if (failure !== undefined) throw new Error(`${program} did not start: ${failure}`);
    return serverOf(dataDir);
  });
}

/** The server that runs on this directory, whoever started it. */
export async function findRedis(dataDir: string): Promise<RunningRedis | undefined> {
  return existsSync(dataDir) ? serverOf(realpathSync(dataDir)) : undefined;
}

/** Stops the server of this directory, if one is running. Works from any process. */
export async function stopRedis(dataDir: string): Promise<void> {
  const running = await findRedis(dataDir);
  await running?.stop();
}

function serverFlags(dataDir: string, port: number, durable: boolean): string[] {
  const persistence = durable ? ['--appendonly', 'yes', '--appendfsync', 'everysec'] : ['--appendonly', 'no'];
  return [
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', dataDir, '--save', ''],
    ...persistence,
    // The only policy under which no queued job is ever evicted.
    ...['--maxmemory-policy', 'noeviction'],
  ];
}

/** Trusts the port file only if the server at the port works in exactly this directory. */
async function serverOf(dataDir: string): Promise<RunningRedis | undefined> {
  const portFile = join(dataDir, PORT_FILE);
  const port = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : NaN;
  if (!(port > 0)) return undefined;
  const pid = await processBehind(port, dataDir);
  if (pid === undefined) return undefined;
  return { url: `redis://127.0.0.1:${port}`, port, pid, stop: () => shutDown(pid) };
}

async function processBehind(port: number, dataDir: string): Promise<number | undefined> {
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 0,
    // Its timer outlives the connection and would delay the end of the process.
    disconnectTimeout: 50,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const [, directory] = await client.config('GET', 'dir');
    if (directory !== dataDir) return undefined;
    const pid = /process_id:(\d+)/.exec(await client.info('server'))?.[1];
    return pid === undefined ? undefined : Number(pid);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

async function shutDown(pid: number): Promise<void> {
  if (isAlive(pid)) process.kill(pid, 'SIGTERM');
  await waitUntil('Redis stop', async () => (isAlive(pid) ? undefined : true));
}
