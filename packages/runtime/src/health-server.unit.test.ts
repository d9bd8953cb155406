import { createHealthServer, runHealthChecks } from './health-server';

describe('health server', () => {
  it('answers liveness and readiness separately', async () => {
    let databaseIsUp = true;
    const database = () =>
      databaseIsUp ? Promise.resolve() : Promise.reject(new Error('connect ECONNREFUSED 10.0.0.5'));
    const server = createHealthServer({ port: 0, host: '127.0.0.1', ready: { database } });
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

  it('counts a check that hangs as failed', async () => {
    const result = await runHealthChecks({ stuck: () => new Promise(() => undefined) }, 1);
    expect(result).toEqual({ ok: false, checks: { stuck: 'failed' } });
  });
});
