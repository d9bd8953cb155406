import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLifecycle, createLogger, type Lifecycle } from '@lipsync/runtime';
import { type RunningRedis, startRedis } from '@lipsync/testkit';
import { type GpuWorkerEnv, gpuWorkerEnvironment } from './env';
import { startWorker } from './start-worker';
import { createRenderFixture, type RenderFixture } from './test/render-fixture';
import { SCRIPTED_MEDIA } from './test/scripted-host';

describe('a gpu-worker that is stopped while it starts', () => {
  let folder: string;
  let fixture: RenderFixture;
  let redis: RunningRedis;
  const closers: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stopped-start-'));
    redis = await startRedis({ dataDir: join(folder, 'redis') });
    fixture = await createRenderFixture(SCRIPTED_MEDIA);
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
    await redis.stop();
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  const logger = createLogger({ service: 'test', level: 'silent' });
  const environment = (): GpuWorkerEnv =>
    gpuWorkerEnvironment.parse({
      ...fixture.environment,
      REDIS_URL: redis.url,
      PUBLIC_BASE_URL: 'https://api.example.com',
      MODEL_PACKS_DIR: join(folder, 'nowhere'),
      WORK_DIR: join(folder, 'work'),
      MEDIA_SANDBOX: 'preferred',
      HEALTH_PORT: '0',
    });

  test('registers nothing and takes no job: its connections are being closed', async () => {
    const opened: string[] = [];
    const lifecycle: Lifecycle = {
      stopping: AbortSignal.abort(),
      lastCall: AbortSignal.abort(),
      onShutdown: (name, close) => {
        opened.push(name);
        closers.push(close);
      },
      shutdown: () => Promise.resolve(),
    };
    await startWorker({ env: environment(), logger, lifecycle, workerId: 'stopped' });
    expect(opened).toContain('inference');
    expect(opened).not.toContain('jobs');
    expect(await fixture.factories.query("SELECT 1 FROM workers WHERE id = 'stopped'")).toEqual([]);
  });

  test('closes its worker and deregisters when stopped during its registration', async () => {
    const codes: number[] = [];
    const process = { on: () => undefined, exit: (code: number) => void codes.push(code) };
    const lifecycle = createLifecycle({ logger, process });
    const closed: string[] = [];
    const stopsLate: Lifecycle = {
      ...lifecycle,
      onShutdown: (name, close) => {
        lifecycle.onShutdown(name, async () => {
          await close();
          closed.push(name);
        });
        // The last thing that is opened before the registration and the first job.
        if (name === 'enqueuing') void lifecycle.shutdown('test');
      },
    };
    await startWorker({ env: environment(), logger, lifecycle: stopsLate, workerId: 'late' });
    await lifecycle.shutdown('test');
    expect(closed).toEqual(expect.arrayContaining(['worker row', 'jobs']));
    expect(closed.at(-1)).toBe('database');
    expect(codes).toEqual([0]);
    // Deregistering back-dates the row.
    const there = "SELECT 1 FROM workers WHERE id = 'late' AND seen_at > now() - interval '30 seconds'";
    expect(await fixture.factories.query(there)).toEqual([]);
  });
});
