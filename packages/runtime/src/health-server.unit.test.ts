import { networkInterfaces } from 'node:os';
import { createHealthServer } from './health-server';
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
