import { type RequestListener } from 'node:http';
import { admitJobs, type Db } from '@lipsync/db';
import { type Queues, type RateLimiter, ringQueue } from '@lipsync/queue';
import { type Clock, createHealthChecks, type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type Telemetry } from '@lipsync/telemetry';
import { type ApiConfig } from './api-deps';
import { createApp } from './app';
import { createHttpMetrics } from './http/http-metrics';
import { readinessChecks } from './readiness';
import { createRinger, type Ringer } from './ringer';

/** The application over its connections, which stay the caller's to open and close. */
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
  const ringer = createRinger({
    logger,
    ringQueue: async (queue) => {
      await ringQueue({
        admit: () => admitJobs(db, queue),
        add: (dispatch) => queues.add(queue, dispatch),
        logger,
      });
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
