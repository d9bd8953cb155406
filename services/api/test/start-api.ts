import { randomBytes } from 'node:crypto';
import { createCustomer, createDb, type Db, issueKey, type LimitChanges, registerWorker } from '@lipsync/db';
import {
  formatApiKey,
  hashApiKey,
  lastFourOf,
  RECORD_TTL_SECONDS,
  SIGNED_URL_SECONDS,
} from '@lipsync/domain';
import { createQueues, createRateLimiter, type Queues, type RateLimiter } from '@lipsync/queue';
import { type Clock, systemClock } from '@lipsync/runtime';
import { createStorage, type Storage } from '@lipsync/storage';
import { createMetrics, type Metrics, NO_TRACING, type Tracing } from '@lipsync/telemetry';
import {
  createTestDatabase,
  eventually,
  listenOnLoopback,
  type S3Server,
  startS3Server,
  TEST_ACT,
  type TestDatabase,
  testPrefix,
  testRedisUrl,
} from '@lipsync/testkit';
import { type ApiConfig } from '../src/api-deps';
import { createApp } from '../src/app';
import { createDrain, createServer } from '../src/server';
import { STORAGE_WAIT_MS } from '../src/start-service';
import { createOperationClient, type OperationClient } from './operation-client';
import { recordedLog } from './recorded-log';
import { createTestWorker, type TestWorker } from './test-worker';

/** Not where the service listens: URLs in responses must come from the settings, never from the request. */
const PUBLIC_BASE_URL = 'https://api.example.com';

/** Generous, because a busy host may keep Redis waiting, and a request that was not counted would not be refused. */
const PATIENCE_MS = 10_000;

export interface TestCustomer {
  id: string;
  key: string;
  keyId: string;
}

export interface TestApi {
  baseUrl: string;
  port: number;
  db: Db;
  database: TestDatabase;
  storage: Storage;
  s3: S3Server;
  queues: Queues;
  metrics: Metrics;
  redisPrefix: string;
  operations: OperationClient;
  worker: TestWorker;
  /** Every line that was logged, parsed. */
  logLines(): Record<string, unknown>[];
  newCustomer(limits?: LimitChanges): Promise<TestCustomer>;
  /** Begins a shutdown as main.ts does, without closing. */
  drain(): void;
  close(): Promise<void>;
}

export interface TestApiOptions {
  config?: Partial<ApiConfig>;
  redisUrl?: string;
  /** Replaces the test's own database. */
  databaseUrl?: string;
  tracing?: Tracing;
  clock?: Clock;
  /** Engines that some worker serves; musetalk by default. */
  engines?: readonly string[];
}

/** How many connections to Postgres the api has in these tests. */
export const CONNECTIONS = 10;

/** The whole service in this process on an ephemeral port, on real Postgres, Redis and S3. */
export async function startApi(options: TestApiOptions = {}): Promise<TestApi> {
  const [database, s3] = await Promise.all([createTestDatabase(), startS3Server()]);
  const db = createDb({ url: database.url, poolMax: 10, publicBaseUrl: PUBLIC_BASE_URL });
  const storage = createStorage({ ...s3, forcePathStyle: true });
  const log = recordedLog();
  const { logger } = log;
  const redisUrl = options.redisUrl ?? testRedisUrl();
  const prefix = testPrefix();
  const queues = createQueues({ redisUrl, logger, prefix });
  const rateLimiter = createRateLimiter({ redisUrl, logger, prefix, answerMs: PATIENCE_MS });
  const served = createDb({
    url: options.databaseUrl ?? database.url,
    poolMax: options.databaseUrl === undefined ? CONNECTIONS : 2,
    publicBaseUrl: PUBLIC_BASE_URL,
    customerScope: true,
  });
  const metrics = createMetrics();
  let draining = false;
  const { app, enqueuer } = createApp({
    config: {
      publicBaseUrl: PUBLIC_BASE_URL,
      trustedProxyHops: 0,
      recordTtlSeconds: RECORD_TTL_SECONDS,
      uploadTtlSeconds: SIGNED_URL_SECONDS,
      storageWaitMs: STORAGE_WAIT_MS,
      storeOrigin: s3.endpoint,
      studioFolder: null,
      enginesOnDemand: [],
      ...options.config,
    },
    db: served,
    storage,
    queues,
    rateLimiter,
    clock: options.clock ?? systemClock,
    logger,
    telemetry: { metrics, tracing: options.tracing ?? NO_TRACING },
    isDraining: () => draining,
  });
  if (options.redisUrl === undefined) await untilLimited(rateLimiter);
  const server = createServer(app);
  const drain = createDrain(server);
  const port = await listenOnLoopback(server);
  const baseUrl = `http://127.0.0.1:${port}`;
  const slots = Object.fromEntries((options.engines ?? ['musetalk']).map((engine) => [engine, 1]));
  await registerWorker(db, { id: 'worker-1', service: 'gpu-worker', slots });
  await registerWorker(db, { id: 'media-1', service: 'media-worker', slots: { media: 1 } });

  return {
    baseUrl,
    port,
    db,
    database,
    storage,
    s3,
    queues,
    metrics,
    redisPrefix: prefix,
    operations: createOperationClient(baseUrl),
    worker: createTestWorker(db),
    logLines: () => log.lines(),
    newCustomer: (limits) => newCustomer(db, limits),
    drain: () => {
      draining = true;
    },
    close: async () => {
      await drain(new AbortController().signal);
      await enqueuer.idle();
      await queues.close();
      rateLimiter.close();
      storage.close();
      await served.close();
      await db.close();
      await Promise.all([database.drop(), s3.close()]);
    },
  };
}

/** Until it is connected, the limiter deliberately allows everything; a test of limits must not begin before. */
async function untilLimited(rateLimiter: RateLimiter): Promise<void> {
  await eventually(async () => {
    const { counted } = await rateLimiter.take({ key: 'start', points: 1000, perSeconds: 60 });
    if (!counted) throw new Error('the limiter is not connected');
  });
}

async function newCustomer(db: Db, limits: LimitChanges = {}): Promise<TestCustomer> {
  const sealed = new Uint8Array(32);
  const customer = await createCustomer(db, TEST_ACT, { name: 'test', limits, sealSecret: () => sealed });
  const key = formatApiKey(randomBytes(32));
  const issued = await issueKey(db, TEST_ACT, {
    customerId: customer.id,
    hash: hashApiKey(key),
    lastFour: lastFourOf(key),
  });
  if (issued === null) throw new Error('the customer is gone');
  return { id: customer.id, key, keyId: issued.id };
}
