import { networkInterfaces } from 'node:os';
import { createHealthChecks, createHealthServer, NotReadyYet } from './health';
import { createLogger } from './logger';

const logger = createLogger({ service: 'test', level: 'silent' });

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
const itWithIpv6 = hasIpv6 ? it : it.skip;

describe('health server', () => {
  it('answers liveness and readiness separately', async () => {
    let databaseIsUp = true;
    const database = () =>
      databaseIsUp ? Promise.resolve() : Promise.reject(new Error('connect ECONNREFUSED 10.0.0.5'));
    const server = createHealthServer({ port: 0, host: '127.0.0.1', logger, ready: { database } });
    const base = `http://127.0.0.1:${await server.start()}`;
    const get = async (path: string) => {
      const response = await fetch(base + path);
      return { status: response.status, body: await response.json() };
    };
    expect(await get('/readyz')).toEqual({ status: 200, body: { status: 'ok', checks: { database: 'ok' } } });
    databaseIsUp = false;
    expect(await get('/readyz')).toEqual({
      status: 503,
      body: { status: 'unavailable', checks: { database: 'failed' } },
    });
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok', checks: {} } });
    expect(await get('/metrics')).toMatchObject({ status: 404 });
    await server.close();
  });

  it('is alive and not ready from the moment when the process begins to stop', async () => {
    const stop = new AbortController();
    const ready = { database: () => Promise.resolve() };
    const server = createHealthServer({ port: 0, host: '127.0.0.1', logger, ready, stopping: stop.signal });
    const base = `http://127.0.0.1:${await server.start()}`;
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    stop.abort();
    const readiness = await fetch(`${base}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([503, { status: 'draining', checks: {} }]);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    await server.close();
  });

  it('serves the metrics it was given, and reports a failure to collect them', async () => {
    let text = () => Promise.resolve('# HELP a b\n');
    const metrics = { contentType: 'text/plain; version=0.0.4', text: () => text() };
    const server = createHealthServer({ port: 0, host: '127.0.0.1', logger, metrics });
    const url = `http://127.0.0.1:${await server.start()}/metrics`;
    const told = await fetch(url);
    expect([told.status, told.headers.get('content-type')]).toEqual([200, metrics.contentType]);
    expect(await told.text()).toBe('# HELP a b\n');
    text = () => Promise.reject(new Error('no'));
    expect((await fetch(url)).status).toBe(500);
    await server.close();
  });

  it('answers on IPv4', () => expectAlive('127.0.0.1'));
  itWithIpv6('answers on IPv6 (skipped on a machine that has none)', () => expectAlive('[::1]'));
});

/** Asks like a kubelet, at the pod's address of either family. */
async function expectAlive(host: string): Promise<void> {
  const server = createHealthServer({ port: 0, logger });
  const response = await fetch(`http://${host}:${await server.start()}/healthz`);
  expect(response.status).toBe(200);
  await server.close();
}

function capture() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, logger: createLogger({ service: 'test', destination }) };
}

describe('health checks', () => {
  it('log once when a check begins to fail and once when it passes again, however often they run', async () => {
    const { lines, logger } = capture();
    let failure: Error | undefined;
    const database = () => (failure === undefined ? Promise.resolve() : Promise.reject(failure));
    const check = createHealthChecks({ database, redis: () => Promise.resolve() }, { logger });
    const ask = async (times: number) => {
      for (let i = 0; i < times; i += 1) await check();
    };
    await ask(2);
    failure = new Error('connect ECONNREFUSED 10.0.0.5');
    await ask(3);
    failure = undefined;
    await ask(2);
    expect(lines).toMatchObject([
      { level: 'warn', message: 'health check fails', check: 'database' },
      { level: 'info', message: 'health check passes again', check: 'database' },
    ]);
    expect(lines).toHaveProperty('0.error.message', 'connect ECONNREFUSED 10.0.0.5');
  });

  it('report a fault of a check that was not ready before', async () => {
    const { lines, logger } = capture();
    let failure: Error = new NotReadyYet('packs are being loaded');
    const check = createHealthChecks({ engines: () => Promise.reject(failure) }, { logger });
    await check();
    failure = new Error('no engine is available');
    await check();
    await check();
    expect(lines).toMatchObject([{ level: 'info' }, { level: 'warn', message: 'health check fails' }]);
    expect(lines).toHaveProperty('1.error.message', 'no engine is available');
  });

  it('run once for concurrent callers, and again for later ones', async () => {
    const database = jest.fn(() => Promise.resolve());
    const check = createHealthChecks({ database }, { logger: capture().logger });
    await Promise.all([check(), check(), check()]);
    expect(database).toHaveBeenCalledTimes(1);
    await check();
    expect(database).toHaveBeenCalledTimes(2);
  });

  it('count a check that hangs or throws as failed, without waiting for it or affecting the others', async () => {
    const { lines, logger } = capture();
    let given: AbortSignal | undefined;
    const check = createHealthChecks(
      {
        stuck: (signal) => {
          given = signal;
          return new Promise(() => undefined);
        },
        thrown: () => {
          throw new Error('no');
        },
        fine: () => Promise.resolve(),
      },
      { logger, deadlineMs: 1 },
    );
    expect(await check()).toEqual({ ok: false, checks: { stuck: 'failed', thrown: 'failed', fine: 'ok' } });
    expect(JSON.stringify(lines)).toContain('no answer within 1 ms');
    expect(given?.aborted).toBe(true);
  });
});
