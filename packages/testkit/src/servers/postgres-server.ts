import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-ports';
import { isAlive } from './is-alive';
import { postgresBinaries } from './postgres-binaries';
import { reachablePath, type ServerUser, serverUser } from './server-user';
import { waitUntil } from './wait-until';

const START_DEADLINE_MS = 30_000;
const STOP_DEADLINE_MS = 20_000;
const PASSWORD_FILE = 'superuser.password';

export interface PostgresOptions {
  /** Created if missing. If root can access it but the server's account cannot, a substitute is used. */
  dataDir: string;
  /** By default a free loopback port. */
  port?: number;
  /** False turns fsync off, for data that may be lost if the machine fails. */
  durable?: boolean;
  /** Runs in a session of its own, so that it outlives the terminal that started it. */
  detached?: boolean;
  /** The server's log; by default beside the data directory. */
  logFile?: string;
}

export interface RunningPostgres {
  /** Connection string of the superuser for the `postgres` database. */
  url: string;
  port: number;
  pid: number;
  /** Fast shutdown: connections are cut, data is flushed. */
  stop(): Promise<void>;
}

/** Starts Postgres on a loopback port, or returns the server that already runs on this data directory. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const user = serverUser();
  const dataDir = reachablePath(options.dataDir, user);
  const running = await serverOf(dataDir);
  if (running) return running;
  const binaries = await postgresBinaries(user);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialise(binaries.initdb, dataDir, user);
  const port = options.port ?? (await freePort());
  const logFile = options.logFile ?? `${dataDir}.log`;
  const log = openSync(logFile, 'a');
  const child = spawn(binaries.postgres, ['-D', dataDir, ...serverFlags(port, options.durable ?? true)], {
    stdio: ['ignore', log, log],
    detached: options.detached ?? false,
    cwd: '/',
    ...user,
  });
  closeSync(log);
  child.unref();
  let exited = false;
  child.once('exit', () => (exited = true));
  child.once('error', () => (exited = true));
  return waitUntil('Postgres start', START_DEADLINE_MS, async () => {
    if (exited) throw new Error(`Postgres did not start: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
    return serverOf(dataDir);
  });
}

/** The server that runs on this data directory, whoever started it. */
export function findPostgres(dataDir: string): Promise<RunningPostgres | undefined> {
  return serverOf(reachablePath(dataDir, serverUser()));
}

/** Stops the server of this data directory, if one is running. Works from any process. */
export async function stopPostgres(dataDir: string): Promise<void> {
  const running = await findPostgres(dataDir);
  await running?.stop();
}

/** Deletes the data of a server that is not running, even if it is in a substitute directory. */
export function erasePostgres(dataDir: string): void {
  const reachable = reachablePath(dataDir, serverUser());
  for (const path of [reachable, `${reachable}.log`]) rmSync(path, { recursive: true, force: true });
}

function serverFlags(port: number, durable: boolean): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=300',
    ...(durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

async function initialise(initdb: string, dataDir: string, user: ServerUser | undefined): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const passwordFile = join(dirname(dataDir), `.${randomBytes(6).toString('hex')}.password`);
  const password = randomBytes(24).toString('hex');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  chmodSync(dataDir, 0o700);
  if (user) for (const path of [dataDir, passwordFile]) chownSync(path, user.uid, user.gid);
  const flags = ['--auth=scram-sha-256', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync'];
  try {
    await promisify(execFile)(initdb, ['-D', dataDir, `--pwfile=${passwordFile}`, ...flags], {
      cwd: '/',
      ...user,
    });
    const kept = join(dataDir, PASSWORD_FILE);
    writeFileSync(kept, password, { mode: 0o600 });
    if (user) chownSync(kept, user.uid, user.gid);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Trusts the pid file only if the server at its port serves exactly this directory. */
async function serverOf(dataDir: string): Promise<RunningPostgres | undefined> {
  const lines = readIfPresent(join(dataDir, 'postmaster.pid'))?.split('\n');
  const password = readIfPresent(join(dataDir, PASSWORD_FILE));
  const pid = Number(lines?.[0]);
  const port = Number(lines?.[3]);
  if (password === undefined || !(pid > 0) || !(port > 0) || !isAlive(pid)) return undefined;
  const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  if ((await dataDirectoryBehind(url)) !== dataDir) return undefined;
  return { url, port, pid, stop: () => shutDown(pid) };
}

async function shutDown(pid: number): Promise<void> {
  if (isAlive(pid)) process.kill(pid, 'SIGINT');
  await waitUntil('Postgres stop', STOP_DEADLINE_MS, async () => (isAlive(pid) ? undefined : true));
}

async function dataDirectoryBehind(connectionString: string): Promise<string | undefined> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0]?.data_directory;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
