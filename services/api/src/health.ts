import { type HealthReport } from '@lipsync/runtime';
import { type RequestHandler } from 'express';
import { sendJson } from './http/send-json';

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
