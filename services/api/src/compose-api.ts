import { type RequestListener } from 'node:http';
import { admitJobs, type Db, type QueueName } from '@lipsync/db';
import { createDoorbell, type Queues, type RateLimiter } from '@lipsync/queue';
import { type Clock, createHealthChecks, type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type ApiConfig } from './api-deps';
import { createApp } from './app';
import { readinessChecks } from './health';
import { createHttpMetrics } from './http/http-metrics';
import { createRinger, type Ringer } from './ringer';

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
}): { app: RequestListener; ringer: Ringer } {
  const { config, db, storage, queues, logger, telemetry } = parts;
  const ring = createDoorbell<QueueName>({
    admit: (queue) => admitJobs(db, queue),
    add: (queue, dispatch) => queues.add(queue, dispatch),
    logger,
  });
  const ringer = createRinger({
    logger,
    ringQueue: async (queue) => {
      await ring(queue);
    },
  });
  const needs = readinessChecks({
    ...{ db, storage, enginesOnDemand: config.enginesOnDemand },
    pingRedis: () => queues.ping(),
  });
  const readiness = createHealthChecks(needs, { logger });
  const httpMetrics = createHttpMetrics(telemetry.metrics);
  const { tracing } = telemetry;
  return { app: createApp({ ...parts, ringer, readiness, httpMetrics, tracing }), ringer };
}
