import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createDb, type Db, heartbeatWorker, registerWorker } from '@lipsync/db';
import { lackingAt, newCustomerWithKey, REPOSITORY_ROOT, waitUntil } from '@lipsync/local-stack';
import { migrate } from '@lipsync/prisma';
import { createSecretBox } from '@lipsync/runtime';
import { createFactories, erasePostgres, type Factories, startPostgres, startRedis } from '@lipsync/testkit';

/** A customer with practically unlimited rates, whose media is ready. */
export interface Caller {
  customerId: string;
  apiKey: string;
  videoId: string;
  audioId: string;
}

/**
 * The benchmark's own Postgres (durable) and Redis, with customers, and a worker that is registered and does nothing.
 */
export interface World {
  folder: string;
  databaseUrl: string;
  redisUrl: string;
  masterKey: string;
  db: Db;
  sql: Factories;
  callers: Caller[];
  close(): Promise<void>;
}

const CALLERS = 4;
const UNLIMITED = 1_000_000;
/** Refreshes the worker well before it counts as gone. */
const HEARTBEAT_MS = 10_000;
const WORKER = { id: 'bench', service: 'gpu-worker', slots: { musetalk: 1, media: 1 } };

export async function openWorld(): Promise<World> {
  const folder = path.join(REPOSITORY_ROOT, '.local', `bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const postgresDir = path.join(folder, 'postgres');
  const postgres = await startPostgres({ dataDir: postgresDir });
  const redis = await startRedis({ dataDir: path.join(folder, 'redis'), durable: true });
  await migrate(postgres.url);
  const db = createDb({ url: postgres.url, poolMax: 4, publicBaseUrl: 'https://api.example.test' });
  const sql = createFactories(postgres.url);
  await registerWorker(db, WORKER);
  const heartbeat = setInterval(() => void heartbeatWorker(db, WORKER.id), HEARTBEAT_MS);
  const masterKey = randomBytes(32).toString('hex');
  const callers = [];
  for (let index = 0; index < CALLERS; index += 1) callers.push(await newCaller(db, sql, masterKey));
  return {
    folder,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    masterKey,
    db,
    sql,
    callers,
    close: async () => {
      clearInterval(heartbeat);
      await sql.close();
      await db.close();
      await Promise.all([postgres.stop(), redis.stop()]);
      erasePostgres(postgresDir);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function newCaller(db: Db, sql: Factories, masterKey: string): Promise<Caller> {
  const { id: customerId, api_key } = await newCustomerWithKey(
    { db, secretBox: createSecretBox(masterKey), act: { actor: 'bench', command: 'bench' } },
    'bench',
    { postPerMinute: UNLIMITED, getPerMinute: UNLIMITED, activeRecordsMax: UNLIMITED },
  );
  const asset = (mediaType: 'video' | 'audio') => sql.readyAsset({ customerId, mediaType });
  return { customerId, apiKey: api_key, videoId: await asset('video'), audioId: await asset('audio') };
}

/** The settings that the services need to start; the store is never contacted, only named in signed URLs. */
export function serviceEnvironment(world: World): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: world.databaseUrl,
    REDIS_URL: world.redisUrl,
    MASTER_KEY: world.masterKey,
    PUBLIC_BASE_URL: 'https://api.example.test',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_BUCKET: 'bench',
    S3_ACCESS_KEY_ID: 'bench',
    S3_SECRET_ACCESS_KEY: 'bench-secret',
  };
}

export const serviceMain = (name: string): string =>
  path.join(REPOSITORY_ROOT, 'services', name, 'dist', 'main.js');

/** Starts a program, which answers at `url` when it is ready; its output goes to a file in the folder of the world. */
export async function startProgram(
  { folder }: World,
  { module, url, env }: { module: string; url: string; env: Readonly<Record<string, string>> },
): Promise<{ stop: () => Promise<void> }> {
  const log = openSync(path.join(folder, 'programs.log'), 'a');
  const child = spawn(process.execPath, [module], { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  if (await waitUntil(async () => (await lackingAt(url)) === null, 20_000)) return { stop };
  await stop();
  throw new Error(`${module} did not start`);
}
