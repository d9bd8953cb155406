import { once } from 'node:events';
import { openDb } from '@lipsync/db';
import { createQueues, createRateLimiter } from '@lipsync/queue';
import { createHealthServer, type Lifecycle, type Logger, systemClock } from '@lipsync/runtime';
import { openStorage } from '@lipsync/storage';
import { openTelemetry } from '@lipsync/telemetry';
import { createApp } from './app';
import { type ApiEnv } from './env';
import { onceReached } from './health';
import { studioFolder } from './pages/studio';
import { createDrain, createServer } from './server';

/**
 * How long a request waits for the object store in total. Without this limit, the request would give up on a silent
 * store only after four timeouts of a silent connection, which is longer than callers wait for a response.
 */
export const STORAGE_WAIT_MS = 5_000;

/**
 * Opens the connections and listens. A shutdown runs in reverse: readiness fails, the server finishes the requests that
 * it has begun and accepts no more, pending jobs are enqueued, then the connections close.
 *
 * The operator's port says whether this process takes requests; /readyz on the public port says whether the service as
 * a whole can do its work.
 */
export async function startService(env: ApiEnv, logger: Logger, lifecycle: Lifecycle): Promise<void> {
  const telemetry = await openTelemetry({ service: 'api', env, logger, lifecycle });
  const db = openDb({ service: 'api', env, logger, customerScope: true });
  lifecycle.onShutdown('database', () => db.close());
  const storage = openStorage(env);
  lifecycle.onShutdown('storage', () => storage.close());
  const queues = createQueues({ redisUrl: env.REDIS_URL, logger });
  lifecycle.onShutdown('queues', () => queues.close());
  const rateLimiter = createRateLimiter({ redisUrl: env.REDIS_URL, logger });
  lifecycle.onShutdown('rate limiter', () => rateLimiter.close());

  const { app, enqueuer } = createApp({
    config: {
      publicBaseUrl: env.PUBLIC_BASE_URL,
      trustedProxyHops: env.TRUSTED_PROXY_HOPS,
      recordTtlSeconds: env.RECORD_TTL_SECONDS,
      uploadTtlSeconds: env.UPLOAD_TTL_SECONDS,
      storageWaitMs: STORAGE_WAIT_MS,
      storeOrigin: await storage.publicOrigin(),
      studioFolder: env.STUDIO === 'on' ? studioFolder() : null,
      enginesOnDemand: env.ENGINES_ON_DEMAND,
    },
    db,
    storage,
    queues,
    rateLimiter,
    logger,
    telemetry,
    clock: systemClock,
    isDraining: () => lifecycle.stopping.aborted,
  });
  lifecycle.onShutdown('enqueuing', () => enqueuer.idle());

  const health = createHealthServer({
    port: env.HEALTH_PORT,
    host: env.LISTEN_ADDRESS,
    ready: { postgres: onceReached(() => db.ping()) },
    stopping: lifecycle.stopping,
    metrics: telemetry.metrics,
    logger,
  });
  const healthPort = await health.start();
  lifecycle.onShutdown('health server', () => health.close());

  const server = createServer(app, {
    connectionsMax: env.CONNECTIONS_MAX,
    isBehindProxy: env.TRUSTED_PROXY_HOPS > 0,
  });
  const refused = telemetry.metrics.counter('http_connections_refused_total');
  server.on('drop', () => refused.inc({}));
  const drain = createDrain(server);
  server.listen(env.PORT, env.LISTEN_ADDRESS);
  await once(server, 'listening');
  lifecycle.onShutdown('http server', () => drain(lifecycle.lastCall));
  logger.info('listening', { address: server.address(), health_port: healthPort });
}
