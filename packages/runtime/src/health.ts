import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
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

/**
 * Resolves if the dependency answers; otherwise throws or hangs. The signal is aborted when the result is no longer
 * needed.
 */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

/** A part that has not started yet. This is expected, so the log does not treat it as a fault. */
export class NotReadyYet extends Error {
  override readonly name = 'NotReadyYet';
}

/** The name and state of every check, which may be published. The reason for a failure is only logged. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

const DEADLINE_MS = 2_000;

/**
 * Runs the checks in parallel, each under its own deadline. Never throws. Callers that ask while the checks run share
 * their result, so anybody may ask at any rate. A check that begins to fail is logged with its reason, and once more
 * when it passes again.
 */
export function createHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  { logger, deadlineMs = DEADLINE_MS }: { logger: Pick<Logger, 'info' | 'warn'>; deadlineMs?: number },
): () => Promise<HealthReport> {
  /** The level at which each failure was logged. */
  const failing = new Map<string, 'info' | 'warn'>();
  let running: Promise<HealthReport> | undefined;

  async function passes(name: string, check: HealthCheck): Promise<boolean> {
    try {
      await inTime(check, deadlineMs);
    } catch (error) {
      const level = error instanceof NotReadyYet ? 'info' : 'warn';
      if (failing.get(name) !== level) logger[level]('health check fails', { check: name, error });
      failing.set(name, level);
      return false;
    }
    if (failing.delete(name)) logger.info('health check passes again', { check: name });
    return true;
  }

  async function run(): Promise<HealthReport> {
    const states = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, (await passes(name, check)) ? 'ok' : 'failed'] as const,
      ),
    );
    return { ok: states.every(([, state]) => state === 'ok'), checks: Object.fromEntries(states) };
  }

  return () => (running ??= run().finally(() => (running = undefined)));
}

async function inTime(check: HealthCheck, deadlineMs: number): Promise<void> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    await Promise.race([Promise.resolve().then(() => check(late.signal)), deadline]);
  } finally {
    clearTimeout(timer);
    late.abort();
  }
}
