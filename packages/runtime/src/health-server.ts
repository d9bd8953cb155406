import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** Resolves when the dependency answers; throws or hangs when it does not. */
export type HealthCheck = () => Promise<unknown>;

/** What GET /metrics answers with. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface HealthServer {
  /** Listens and returns the port (useful with port 0). */
  start(): Promise<number>;
  close(): Promise<void>;
}

const CHECK_DEADLINE_MS = 2_000;

/**
 * GET /healthz: is the process itself working (`live` checks, none by default; a failure asks for a restart).
 * GET /readyz: can it do its work now (`ready` checks); from the moment in which `stopping` is aborted it cannot, and
 * nothing is asked. 200 or 503, with the name and state of every check; the reason of a failure stays in the process.
 * GET /metrics: what `metrics` tells now. The port is for the operator's network alone.
 */
export function createHealthServer(options: {
  port: number;
  /** Every address of the machine, of both families, when left out. */
  host?: string;
  live?: Readonly<Record<string, HealthCheck>>;
  ready?: Readonly<Record<string, HealthCheck>>;
  stopping?: AbortSignal;
  metrics?: MetricsSource;
}): HealthServer {
  const { live = {}, ready = {}, stopping, metrics } = options;
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

/** Runs the checks side by side, each under its own deadline. Never throws. */
export async function runHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  deadlineMs: number = CHECK_DEADLINE_MS,
): Promise<{ ok: boolean; checks: Record<string, 'ok' | 'failed'> }> {
  const states = await Promise.all(
    Object.entries(checks).map(
      async ([name, check]) => [name, (await passes(check, deadlineMs)) ? 'ok' : 'failed'] as const,
    ),
  );
  return { ok: states.every(([, state]) => state === 'ok'), checks: Object.fromEntries(states) };
}

async function passes(check: HealthCheck, deadlineMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const answered = Promise.resolve()
    .then(check)
    .then(
      () => true,
      () => false,
    );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function answer(
  response: ServerResponse,
  checks: Readonly<Record<string, HealthCheck>>,
): Promise<void> {
  const result = await runHealthChecks(checks);
  send(response, result.ok ? 200 : 503, { status: result.ok ? 'ok' : 'unavailable', checks: result.checks });
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
