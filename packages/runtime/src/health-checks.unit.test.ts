import { createHealthChecks, NotReadyYet } from './health-checks';
import { createLogger } from './logger';

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

  it('do not report a part that has not started yet as a fault', async () => {
    const { lines, logger } = capture();
    const packs = () => Promise.reject(new NotReadyYet('packs are being loaded'));
    expect(await createHealthChecks({ packs }, { logger })()).toMatchObject({ ok: false });
    expect(lines).toMatchObject([{ level: 'info', message: 'health check fails', check: 'packs' }]);
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
