import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { createHealthChecks, type HealthCheck, type HealthReport } from './health-checks';
import { type Logger } from './logger';

/** Provides the response to GET /metrics. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface HealthServer {
  /** Listens and returns the port (useful with port 0). */
  start(): Promise<number>;
  close(): Promise<void>;
}

/**
 * GET /healthz: whether the process itself works (`live` checks, none by default; a failure asks for a restart).
 * GET /readyz: whether the process can do its work now (`ready` checks). Once `stopping` is aborted, it is not ready,
 * and no check runs.
 * Both answer 200 or 503 with the name and state of every check; the reason for a failure is logged.
 * GET /metrics: the current output of `metrics`.
 * Only the operator's network may reach the port.
 */
export function createHealthServer(options: {
  port: number;
  /** Defaults to every address of the machine, IPv4 and IPv6. */
  host?: string | undefined;
  live?: Readonly<Record<string, HealthCheck>>;
  ready?: Readonly<Record<string, HealthCheck>>;
  stopping?: AbortSignal;
  metrics?: MetricsSource;
  logger: Pick<Logger, 'info' | 'warn'>;
}): HealthServer {
  const { stopping, metrics, logger } = options;
  const live = createHealthChecks(options.live ?? {}, { logger });
  const ready = createHealthChecks(options.ready ?? {}, { logger });
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET') return send(response, 405, { status: 'method_not_allowed' });
    if (path === '/healthz') return void answer(response, live);
    if (path === '/readyz' && stopping?.aborted === true)
      return send(response, 503, { status: 'draining', checks: {} });
    if (path === '/readyz') return void answer(response, ready);
    if (path === '/metrics' && metrics) return void expose(response, metrics);
    return send(response, 404, { status: 'not_found' });
  });
  return {
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, () => {
          server.removeListener('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function answer(response: ServerResponse, check: () => Promise<HealthReport>): Promise<void> {
  const { ok, checks } = await check();
  send(response, ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', checks });
}

async function expose(response: ServerResponse, metrics: MetricsSource): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
    response.end(text);
  } catch {
    send(response, 500, { status: 'failed' });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
