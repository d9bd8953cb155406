import { once } from 'node:events';
import { openDb } from '@lipsync/db';
import { createQueues, createRateLimiter } from '@lipsync/queue';
import { createLifecycle, createLogger, systemClock } from '@lipsync/runtime';
import { openStorage } from '@lipsync/storage';
import { composeApi } from './compose-api';
import { drain } from './drain';
import { loadApiEnv } from './env';
import { createServer } from './server';

async function main(): Promise<void> {
  const env = loadApiEnv(process.env);
  const logger = createLogger({ service: 'api', level: env.LOG_LEVEL });
  const lifecycle = createLifecycle({ logger });

  const db = openDb(env, logger);
  lifecycle.onShutdown('database', () => db.close());
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  const queues = createQueues({ redisUrl: env.REDIS_URL, logger });
  lifecycle.onShutdown('queues', () => queues.close());
  const rateLimiter = createRateLimiter({ redisUrl: env.REDIS_URL, logger });
  lifecycle.onShutdown('rate limiter', () => rateLimiter.close());

  const { app, ringer } = composeApi({
    config: {
      publicBaseUrl: env.PUBLIC_BASE_URL,
      trustedProxyHops: env.TRUSTED_PROXY_HOPS,
      recordTtlSeconds: env.RECORD_TTL_SECONDS,
      uploadTtlSeconds: env.UPLOAD_TTL_SECONDS,
    },
    db,
    storage,
    queues,
    rateLimiter,
    clock: systemClock,
    logger,
    isDraining: () => lifecycle.stopping.aborted,
  });
  lifecycle.onShutdown('ringer', () => ringer.idle());

  const server = createServer(app);
  server.listen(env.PORT);
  await once(server, 'listening');
  lifecycle.onShutdown('http server', () => drain(server));
  logger.info('listening', { address: server.address() });
}

void main();
