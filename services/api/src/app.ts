import { type RequestListener } from 'node:http';
import { openapiDocument } from '@lipsync/contract';
import { enqueueJobs, type QueueName } from '@lipsync/db';
import { ServiceError } from '@lipsync/domain';
import { createEnqueuer, type Enqueuer } from '@lipsync/queue';
import { createHealthChecks } from '@lipsync/runtime';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { type ApiConnections, type ApiDeps } from './api-deps';
import { healthz, readinessChecks, readyz } from './health';
import { answerError } from './http/answer';
import { type Authenticate, createAuthenticator } from './http/authenticate';
import { createHttpMetrics } from './http/http-metrics';
import { beginRequest, requestPath } from './http/request';
import { v1 } from './http/v1';
import { docs, loadSite, notFound } from './pages/docs';
import { downloads } from './pages/downloads';
import { serveFiles, staticFile } from './pages/static-file';
import { acceptedKey, studio } from './pages/studio';

const OPERATIONS_PATH = /^\/v1(\/|$)/;
const DOCUMENTATION_PATH = /^\/(docs(\/.*)?|llms(-full)?\.txt|robots\.txt)$/;

/**
 * The HTTP application: the ten operations under /v1, which need a key, and the pages outside it, which do not. The
 * operations are not routed by Express but by a table of their own: Express's overhead equals that of the rest of a
 * request. A shutdown waits for the enqueuer, which goes on after a response.
 */
export function createApp(connections: ApiConnections): {
  app: RequestListener;
  enqueuer: Enqueuer<QueueName>;
} {
  const { db, queues, logger, telemetry } = connections;
  const enqueuer = createEnqueuer<QueueName>({
    choose: (queue) => enqueueJobs(db, queue),
    add: (queue, message) => queues.add(queue, message),
    logger,
  });
  const deps = { ...connections, enqueuer, httpMetrics: createHttpMetrics(telemetry.metrics) };
  const authenticate = createAuthenticator(deps);
  const operations = v1(deps, authenticate);
  const rest = openPages(deps, authenticate);
  const app: RequestListener = (req, res) => {
    const path = requestPath(req.url ?? '');
    if (OPERATIONS_PATH.test(path)) {
      void operations(req, res);
      return;
    }
    // Express would also parse the origin and the query, and would itself answer targets that it cannot parse or that
    // are empty before any handler below runs. An empty path in absolute form means `/` (RFC 9110 4.2.3).
    req.url = path === '' ? '/' : path;
    rest(req, res);
  };
  return { app, enqueuer };
}

/** Health, documentation, downloads and the studio; 404 for everything else outside /v1, to browsers as a page. */
function openPages(deps: ApiDeps, authenticate: Authenticate): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', false);

  const { publicBaseUrl, storeOrigin, studioFolder } = deps.config;
  const readiness = createHealthChecks(readinessChecks(deps), { logger: deps.logger });
  const document = { ...openapiDocument, servers: [{ url: publicBaseUrl }] };
  const openapi = staticFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(document)));

  app.use((req, res, next) => {
    res.locals.context = beginRequest(deps, req, res);
    next();
  });
  app.all('/healthz', readOnly, healthz);
  app.all('/readyz', readOnly, readyz(readiness, deps.isDraining));
  app.all('/', readOnly, (_req, res) => {
    res.statusCode = 302;
    res.setHeader('Location', '/docs');
    res.end();
  });
  app.all('/openapi.json', readOnly, serveFiles(new Map([['/openapi.json', openapi]])));
  const site = loadSite();
  const docsOptions = { ...deps.config, hasStudio: studioFolder !== null };
  app.all(DOCUMENTATION_PATH, readOnly, docs(site, docsOptions));
  app.all(/^\/downloads(\/|$)/, readOnly, downloads(publicBaseUrl));
  if (studioFolder !== null) {
    app.all('/studio/key', readOnly, acceptedKey(deps, authenticate));
    app.all(/^\/studio(\/|$)/, readOnly, studio(studioFolder, storeOrigin));
  }
  app.use(notFound(site, docsOptions), () => {
    throw new ServiceError('not_found');
  });
  app.use(errorHandler);
  return app;
}

/** Refuses every method but GET and HEAD. */
const readOnly: RequestHandler = (req, _res, next) => {
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    throw new ServiceError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } });
  }
  next();
};

/** Registered last, so that it receives every error. */
// Express recognizes an error handler by its four parameters.
// eslint-disable-next-line @typescript-eslint/no-unused-vars
const errorHandler: ErrorRequestHandler = (thrown: unknown, _req, res, _next) => {
  answerError(res, res.locals.context.fields, thrown);
};
