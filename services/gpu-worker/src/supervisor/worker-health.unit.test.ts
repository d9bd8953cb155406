import { createLogger } from '@lipsync/runtime';
import { untraced } from '@lipsync/telemetry';
import { createWorkerHealth } from './worker-health';

const answers = { ping: () => Promise.resolve() };
const serves = { engines: new Map([['musetalk' as const, { dir: '', digest: '', version: '', bytes: 0 }]]) };
const servesNothing = { engines: new Map() };
const fetching = { silentMs: () => 0 };

describe('health of a gpu-worker', () => {
  const opened: ReturnType<typeof createWorkerHealth>[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((health) => health.close())));

  async function open(change: { loadingLimitMs?: number; stopping?: AbortSignal } = {}) {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const parts = { db: answers, storage: answers, queues: answers, metrics: untraced().metrics, logger };
    const stopping = new AbortController().signal;
    const health = createWorkerHealth({ port: 0, ...parts, stopping, loadingLimitMs: 60_000, ...change });
    opened.push(health);
    const base = `http://127.0.0.1:${await health.start()}`;
    const get = async (path: string) => {
      const response = await fetch(base + path);
      return { status: response.status, body: await response.json() };
    };
    return { health, get };
  }

  it('is alive but not ready while packs are loading, then both', async () => {
    const { health, get } = await open();
    expect((await get('/healthz')).status).toBe(200);
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { checks: { packs: 'failed' } } });
    health.loaded(serves);
    health.serving(fetching);
    expect((await get('/healthz')).status).toBe(200);
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { checks: { packs: 'ok' } } });
  });

  it('requests a restart when loading does not end', async () => {
    const { get } = await open({ loadingLimitMs: -1 });
    expect(await get('/healthz')).toMatchObject({ status: 503, body: { checks: { packs: 'failed' } } });
  });

  it('requests none when its packs are loaded and the store refuses it: a restart would not help', async () => {
    const { health, get } = await open({ loadingLimitMs: -1 });
    health.loaded(serves);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('requests no restart when no pack is usable: the next start would find none either', async () => {
    const { health, get } = await open();
    health.loaded(servesNothing);
    health.serving(fetching);
    expect((await get('/healthz')).status).toBe(200);
    const checks = { packs: 'ok', engines: 'failed' };
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { checks } });
  });

  it('requests a restart when the consumer gets no answer although Redis is available', async () => {
    const { health, get } = await open();
    health.loaded(serves);
    health.serving({ silentMs: () => 3_600_000 });
    expect(await get('/healthz')).toMatchObject({ status: 503, body: { checks: { consumer: 'failed' } } });
  });

  it('is alive but not ready while it finishes its jobs', async () => {
    const stop = new AbortController();
    const { health, get } = await open({ stopping: stop.signal });
    health.loaded(serves);
    health.serving(fetching);
    stop.abort();
    expect((await get('/healthz')).status).toBe(200);
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { status: 'draining' } });
  });
});
