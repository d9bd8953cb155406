import { ENGINES } from '@lipsync/contract';
import { liveQueues } from '@lipsync/db';
import { type HealthCheck, type HealthReport } from '@lipsync/runtime';
import { type RequestHandler } from 'express';
import { type ApiDeps } from './api-deps';
import { sendJson } from './http/answer';

/** GET /healthz: this process responds. It checks no dependency, so an outage elsewhere restarts nothing here. */
export const healthz: RequestHandler = (_req, res) => {
  sendJson(res, 200, { status: 'ok' });
};

/**
 * GET /readyz: the whole service can do its work (Postgres, Redis, S3, at least one worker). A 503 lists what is
 * missing, not why; while draining, the answer is 503 without any check.
 */
export function readyz(check: () => Promise<HealthReport>, isDraining: () => boolean): RequestHandler {
  return async (_req, res) => {
    if (isDraining()) return sendJson(res, 503, { status: 'draining', checks: {} });
    const { ok, checks } = await check();
    sendJson(res, ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', checks });
  };
}

/**
 * Checks until the first success, then always passes. A process that has never reached its shared dependencies gets no
 * requests. One that has keeps getting them during an outage and answers with the contract's errors: if every process
 * left the load balancer, the balancer would answer with errors of its own.
 */
export function onceReached(check: HealthCheck): HealthCheck {
  let reached = false;
  return async (signal) => {
    if (!reached) await check(signal);
    reached = true;
  };
}

/** The dependencies that the service as a whole needs; each check throws when its dependency is unavailable. */
export function readinessChecks({ config, db, storage, queues }: ApiDeps): Record<string, HealthCheck> {
  return {
    postgres: () => db.ping(),
    redis: () => queues.ping(),
    s3: (signal) => storage.ping({ signal }),
    workers: async () => {
      const live = await liveQueues(db);
      if (!live.has('media')) throw new Error('no worker fetches inputs');
      if (config.enginesOnDemand.length === 0 && !ENGINES.some((engine) => live.has(engine)))
        throw new Error('no worker serves any engine');
    },
  };
}
