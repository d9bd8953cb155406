import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  findPostgres,
  findRedis,
  startPostgres,
  startRedis,
  stopPostgres,
  stopRedis,
} from '@lipsync/testkit';
import { Client, escapeLiteral } from 'pg';
import { REPOSITORY_ROOT, type StackLayout } from './layout';
import type { ProcessSpec } from './process-manager';
import type { ServerAddresses, StackState, StoreAccess } from './state';

const DATABASE = 'lipsync';
/** The superuser of servers that the stack starts itself. */
const SUPERUSER = 'postgres';
const SERVICES_WITH_ROLES = ['api', 'media-worker', 'gpu-worker', 'webhook-dispatcher', 'admin'];

/** Starts Postgres and Redis, detached, unless they run; their data directories identify them. */
export async function startServers({ ports }: StackState, layout: StackLayout): Promise<ServerAddresses> {
  mkdirSync(layout.logsDir, { recursive: true });
  const [postgres, redis] = await Promise.all([
    startPostgres({
      dataDir: layout.postgresDir,
      port: ports.postgres,
      detached: true,
      logFile: path.join(layout.logsDir, 'postgres.log'),
    }),
    startRedis({
      dataDir: layout.redisDir,
      port: ports.redis,
      durable: true,
      detached: true,
      logFile: path.join(layout.logsDir, 'redis.log'),
    }),
  ]);
  return { postgresUrl: await ensureDatabase(postgres.url), redisUrl: redis.url };
}

/** Process ids of Postgres and Redis, if they respond. */
export async function serverPids(layout: StackLayout): Promise<{ name: string; pid: number | null }[]> {
  const [postgres, redis] = await Promise.all([findPostgres(layout.postgresDir), findRedis(layout.redisDir)]);
  return [
    { name: 'postgres', pid: postgres?.pid ?? null },
    { name: 'redis', pid: redis?.pid ?? null },
  ];
}

export async function stopServers(layout: StackLayout): Promise<void> {
  await Promise.all([stopPostgres(layout.postgresDir), stopRedis(layout.redisDir)]);
}

/** The stack's own store: an S3 double, whose second pair of keys may only upload. */
export function s3Options({ ports, s3 }: StackState, layout: StackLayout) {
  const { accessKeyId, secretAccessKey, bucket } = s3;
  return {
    port: ports.s3,
    dataDir: layout.s3Dir,
    bucket,
    accessKeyId,
    secretAccessKey,
    uploadCredentials: uploadCredentials(s3),
  };
}

export const uploadCredentials = ({ accessKeyId, secretAccessKey }: StoreAccess) => ({
  accessKeyId: `${accessKeyId}-uploads`,
  secretAccessKey,
});

/** The stack's own store as a separate process. */
export function s3Spec(state: StackState, layout: StackLayout): ProcessSpec {
  return {
    name: 's3',
    command: process.execPath,
    args: [path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'serve-s3.js')],
    env: { PATH: process.env['PATH'] ?? '', S3_OPTIONS: JSON.stringify(s3Options(state, layout)) },
    lacks: async () => ((await answers(`http://127.0.0.1:${state.ports.s3}/`)) ? null : 'an answer'),
    stopGraceMs: 10_000,
  };
}

/** Any response will do: an unsigned request gets a refusal. */
async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );
}

/**
 * The login of one service with only the rights it needs, as in production. Its password is the superuser's. A server
 * that somebody else runs has one login for all. Empty until the servers have started.
 */
export function databaseUrlOf(service: string, { servers }: StackState): string {
  if (servers.postgresUrl === '') return '';
  const url = new URL(servers.postgresUrl);
  if (url.username === SUPERUSER) url.username = roleOf(service);
  return url.toString();
}

const roleOf = (service: string): string => `${DATABASE}_${service.replace('-', '_')}`;

async function ensureRole(superuser: Client, service: string): Promise<void> {
  const { rowCount } = await superuser.query('SELECT FROM pg_roles WHERE rolname = $1', [roleOf(service)]);
  if (rowCount === 1) return;
  await superuser.query(
    `CREATE ROLE ${roleOf(service)} LOGIN PASSWORD ${escapeLiteral(superuser.password ?? '')}`,
  );
}

async function ensureDatabase(superuserUrl: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    for (const service of SERVICES_WITH_ROLES) await ensureRole(client, service);
  } finally {
    await client.end();
  }
  const url = new URL(superuserUrl);
  url.pathname = `/${DATABASE}`;
  return url.toString();
}
