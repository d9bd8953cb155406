import { type RequestListener } from 'node:http';
import { type Db, enqueueJobs, type QueueName } from '@lipsync/db';
import { createEnqueuer, type Enqueuer, type Queues, type RateLimiter } from '@lipsync/queue';
import { type Clock, createHealthChecks, type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type ApiConfig } from './api-deps';
import { createApp } from './app';
import { readinessChecks } from './health';
import { createHttpMetrics } from './http/http-metrics';

/** Wires the application to connections that the caller opens and closes. */
export function composeApi(parts: {
  config: ApiConfig;
  db: Db;
  storage: Storage;
  queues: Queues;
  rateLimiter: RateLimiter;
  clock: Clock;
  logger: Logger;
  telemetry: Telemetry;
  isDraining: () => boolean;
}): { app: RequestListener; enqueuer: Enqueuer<QueueName> } {
  const { config, db, storage, queues, logger, telemetry } = parts;
  const enqueuer = createEnqueuer<QueueName>({
    choose: (queue) => enqueueJobs(db, queue),
    add: (queue, message) => queues.add(queue, message),
    logger,
  });
  const needs = readinessChecks({
    db,
    storage,
    enginesOnDemand: config.enginesOnDemand,
    pingRedis: () => queues.ping(),
  });
  const readiness = createHealthChecks(needs, { logger });
  const httpMetrics = createHttpMetrics(telemetry.metrics);
  const { tracing } = telemetry;
  return { app: createApp({ ...parts, enqueuer, readiness, httpMetrics, tracing }), enqueuer };
}
