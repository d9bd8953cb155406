import { openapiDocument } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';
import express, { type Express } from 'express';
import { type ApiDeps } from './api-deps';
import { docs } from './docs/docs-handler';
import { healthz, readyz } from './health';
import { errorHandler } from './http/error-handler';
import { readOnly } from './http/read-only';
import { requestLog } from './http/request-log';
import { sendJson } from './http/send-json';
import { v1 } from './http/v1';

/** The HTTP application: health and documentation in the open, the ten operations under /v1, 404 for the rest. */
export function createApp(deps: ApiDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  app.set('trust proxy', deps.config.trustedProxyHops);

  const document = { ...openapiDocument, servers: [{ url: deps.config.publicBaseUrl }] };

  app.use(requestLog(deps.logger, deps.httpMetrics));
  app.use('/v1', v1(deps));
  app.all('/healthz', readOnly, healthz);
  app.all('/readyz', readOnly, readyz(deps.readiness, deps.isDraining));
  app.all('/openapi.json', readOnly, (_req, res) => sendJson(res, 200, document));
  app.all(/^\/docs(\/|$)/, readOnly, docs(deps.config.publicBaseUrl));
  app.use(() => {
    throw new ServiceError('not_found');
  });
  app.use(errorHandler);
  return app;
}
