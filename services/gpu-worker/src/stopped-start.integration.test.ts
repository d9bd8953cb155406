import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type Lifecycle } from '@lipsync/runtime';
import { type RunningRedis, startRedis } from '@lipsync/testkit';
import { gpuWorkerEnvironment } from './env';
import { startWorker } from './start-worker';
import { createRenderFixture, type RenderFixture } from './test/render-fixture';

describe('a gpu-worker that is told to stop while it starts', () => {
  let folder: string;
  let fixture: RenderFixture;
  let redis: RunningRedis;
  const closers: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stopped-start-'));
    redis = await startRedis({ dataDir: join(folder, 'redis') });
    fixture = await createRenderFixture(folder);
  }, 60_000);
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
    await redis.stop();
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('announces nothing and takes no job: what it works with is being closed', async () => {
    const env = gpuWorkerEnvironment.parse({
      ...fixture.environment,
      REDIS_URL: redis.url,
      PUBLIC_BASE_URL: 'https://api.example.com',
      MODEL_PACKS_DIR: join(folder, 'nowhere'),
      WORK_DIR: join(folder, 'work'),
      HEALTH_PORT: '0',
    });
    const opened: string[] = [];
    const lifecycle: Lifecycle = {
      stopping: AbortSignal.abort(),
      onShutdown: (name, close) => {
        opened.push(name);
        closers.push(close);
      },
      shutdown: () => Promise.resolve(),
    };
    const logger = createLogger({ service: 'test', level: 'silent' });
    await startWorker({ env, logger, lifecycle, workerId: 'stopped' });
    expect(opened).toContain('inference');
    expect(opened).not.toContain('jobs');
    expect(await fixture.factories.query("SELECT 1 FROM workers WHERE id = 'stopped'")).toEqual([]);
  }, 60_000);
});
