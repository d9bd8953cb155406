import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createCustomer, createDb, type Db, heartbeatWorker, issueKey, registerWorker } from '@lipsync/db';
import { formatApiKey, hashApiKey, lastFourOf } from '@lipsync/domain';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { migrate } from '@lipsync/prisma';
import { createSecretBox } from '@lipsync/runtime';
import { createFactories, erasePostgres, type Factories, startPostgres, startRedis } from '@lipsync/testkit';

/** A customer with practically unlimited rates, whose media is ready. */
export interface Caller {
  customerId: string;
  apiKey: string;
  signingSecret: string;
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

const CALLERS = 16;
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
  const signingSecret = randomBytes(32).toString('hex');
  const { id: customerId } = await createCustomer(db, {
    name: 'bench',
    limits: { postPerMinute: UNLIMITED, getPerMinute: UNLIMITED, activeRecordsMax: UNLIMITED },
    sealSecret: (id) => createSecretBox(masterKey).seal(signingSecret, id),
  });
  const apiKey = formatApiKey(randomBytes(32));
  await issueKey(db, { customerId, hash: hashApiKey(apiKey), lastFour: lastFourOf(apiKey) });
  const asset = (mediaType: 'video' | 'audio') => sql.readyAsset({ customerId, mediaType });
  return { customerId, apiKey, signingSecret, videoId: await asset('video'), audioId: await asset('audio') };
}

/** Ends every open render, as workers would have done, and lets Postgres clean up the dead rows. */
export async function endOpenRenders({ sql }: World): Promise<void> {
  await sql.query(`UPDATE jobs SET status = 'finished', fence = fence + 1 WHERE status <> 'finished'`);
  for (const table of ['renders', 'engine_runs'])
    await sql.query(
      `UPDATE ${table} SET status = 'completed', stage = 'completed', progress_percent = 100
         ${table === 'renders' ? ', completed_at = now()' : ''}
       WHERE status IN ('accepted', 'processing')`,
    );
  await sql.query('VACUUM ANALYZE renders, engine_runs, jobs');
}
