import { type ChildProcess, execFile, fork } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { buildAnalyzerPack } from '@lipsync/builtin-packs';
import { writeTinyPacks } from '@lipsync/engines/test';
import { createQueues, type Queues } from '@lipsync/queue';
import { createLogger } from '@lipsync/runtime';
import { eventually, freePorts, parseExposition, type RunningRedis, startRedis } from '@lipsync/testkit';
import { keepTail } from './host/inference-host';
import { createRenderFixture, recordedMedia, type RenderFixture } from './test/render-fixture';

const COMPILED_MAIN = join(__dirname, '../dist/main.js');

describe('gpu-worker process', () => {
  let folder: string;
  let fixture: RenderFixture;
  let redis: RunningRedis;
  let queues: Queues;
  const workers: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gpu-worker-'));
    await buildAnalyzerPack(join(folder, 'packs', 'analyzer'));
    await writeTinyPacks(join(folder, 'packs'));
    redis = await startRedis({ dataDir: join(folder, 'redis') });
    queues = createQueues({
      redisUrl: redis.url,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    fixture = await createRenderFixture(await recordedMedia(folder));
  });
  afterEach(() => {
    fixture.s3.faults.clear();
    workers.splice(0).forEach((worker) => worker.kill('SIGKILL'));
  });
  afterAll(async () => {
    await queues.close();
    await redis.stop();
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts the compiled service, as an operator would. */
  function startService(env: Record<string, string> = {}): ChildProcess {
    const worker = fork(COMPILED_MAIN, [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'] ?? '',
        LOG_LEVEL: 'silent',
        ...fixture.environment,
        REDIS_URL: redis.url,
        PUBLIC_BASE_URL: 'https://api.example.com',
        GPU_SLOTS: '1',
        MODEL_PACKS_DIR: join(folder, 'packs'),
        WORK_DIR: join(folder, 'work'),
        MEDIA_SANDBOX: 'preferred',
        HEALTH_PORT: '0',
        // One engine is enough for these tests, and its packs are verified sooner.
        ENGINES: 'musetalk',
        ...env,
      },
    });
    workers.push(worker);
    return worker;
  }
  const ended = (worker: ChildProcess): Promise<number | null> =>
    new Promise((resolve) => worker.once('close', (code) => resolve(code)));
  const services = async () =>
    (
      await fixture.factories.query<{ slots: unknown }>(
        "SELECT slots FROM workers WHERE service = 'gpu-worker' AND seen_at > now() - interval '30 seconds'",
      )
    ).map(({ slots }) => slots);
  const untilServing = (slots: Record<string, number> = { musetalk: 1, preparation: 1 }) =>
    eventually(async () => expect(await services()).toEqual([slots]));
  const untilRun = (runId: string, state: Record<string, string>) =>
    eventually(async () => expect(await fixture.row('engine_runs', runId)).toMatchObject(state));

  /** The store takes nothing more, so that no job ends by itself, however fast the machine is. */
  const keepJobsFromEnding = (): void =>
    fixture.s3.faults.set({
      heldUntil: new Promise(() => undefined),
      applies: ({ method }) => method === 'PUT',
    });

  /** Keeps the workers of later tests from enqueueing and performing a job that was handed back. */
  const takeOut = (jobId: string) =>
    fixture.factories.query("UPDATE jobs SET status = 'finished' WHERE id = $1", [jobId]);

  test('while it loads packs it is alive but not ready; then it takes jobs of all its queues, one after another on the only slot, and stops cleanly', async () => {
    const packs = join(folder, 'slow-packs');
    await cp(join(folder, 'packs'), packs, { recursive: true });
    // A reader of a named pipe waits for its writer.
    const slow = join(packs, 'slow');
    await mkdir(slow);
    await promisify(execFile)('mkfifo', [join(slow, 'pack.json')]);
    const [port] = await freePorts(1);
    const worker = startService({ MODEL_PACKS_DIR: packs, HEALTH_PORT: String(port) });
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, body: await response.text() };
    };
    await eventually(async () => expect(await get('/readyz')).toMatchObject({ status: 503 }));
    expect(await get('/healthz')).toMatchObject({ status: 200 });
    // Belongs to an engine that is not served here, so it does nothing else.
    await writeFile(join(slow, 'pack.json'), '{"engine":"latentsync"}');
    await untilServing();
    expect(await get('/readyz')).toMatchObject({ status: 200 });

    const render = await fixture.render({ audio: 'short', prepared: true });
    const preparation = await fixture.preparation();
    const next = await fixture.render({ audio: 'short', prepared: true });
    await queues.add('musetalk', { jobId: render.jobId, enqueueSeq: 1 });
    await queues.add('preparation', { jobId: preparation.jobId, enqueueSeq: 1 });
    await queues.add('musetalk', { jobId: next.jobId, enqueueSeq: 1 });
    for (const { jobId } of [render, preparation, next]) {
      const done = { status: 'finished', attempts: 1 };
      await eventually(async () => expect(await fixture.job(jobId)).toMatchObject(done));
    }
    expect(await fixture.row('engine_runs', next.runId)).toMatchObject({ status: 'completed' });
    await eventually(async () => {
      const told = parseExposition((await get('/metrics')).body);
      const completed = { queue: 'musetalk', outcome: 'completed' };
      expect(told.value('lipsync_jobs_total', completed)).toBe(2);
      expect(told.value('lipsync_stage_duration_seconds_count', { engine: 'musetalk', stage: 'infer' })).toBe(
        2,
      );
      expect(told.value('lipsync_engine_available', { engine: 'musetalk' })).toBe(1);
      expect(told.value('lipsync_slots', { queue: 'musetalk' })).toBe(1);
      expect(told.value('lipsync_inference_restarts_total', { reason: 'crashed' })).toBe(0);
      expect(told.value('lipsync_build_info', { component: 'gpu-worker' })).toBe(1);
    });

    const end = ended(worker);
    worker.kill('SIGTERM');
    expect(await end).toBe(0);
    expect(await services()).toEqual([]);
  });

  test('when a pack was replaced while it runs, it hands the job back and exits, to be restarted', async () => {
    const packsDir = join(folder, 'replaced-packs');
    await cp(join(folder, 'packs'), packsDir, { recursive: true });
    // It leaves preparations to other workers.
    const worker = startService({ MODEL_PACKS_DIR: packsDir, PREPARATIONS: 'false' });
    await untilServing({ musetalk: 1 });
    const manifest = join(packsDir, 'tiny-musetalk/pack.json');
    await writeFile(manifest, `${readFileSync(manifest, 'utf8')}\n`);
    const { jobId } = await fixture.render({ audio: 'short', prepared: true });
    const end = ended(worker);
    await queues.add('musetalk', { jobId, enqueueSeq: 1 });
    expect(await end).toBe(1);
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', attempts: 0, last_error_code: null });
    expect(await services()).toEqual([]);
    await takeOut(jobId);
  });

  test('SIGTERM in the middle of a job, even while Redis is away, hands it back after the grace period without costing an attempt', async () => {
    const lost = await startRedis({ dataDir: join(folder, 'lost-redis') });
    const logger = createLogger({ service: 'test', level: 'silent' });
    const producer = createQueues({ redisUrl: lost.url, logger });
    await eventually(() => producer.ping());
    const worker = startService({ REDIS_URL: lost.url, SHUTDOWN_GRACE_SECONDS: '1' });
    await untilServing();
    const { jobId, runId } = await fixture.render({ audio: 'long', prepared: true });
    keepJobsFromEnding();
    await producer.add('musetalk', { jobId, enqueueSeq: 1 });
    const inTheMiddle = ['inferencing', 'encoding', 'uploading'];
    await eventually(async () =>
      expect(inTheMiddle).toContain((await fixture.row('engine_runs', runId))['stage']),
    );
    await producer.close();
    process.kill(lost.pid, 'SIGKILL');

    const end = ended(worker);
    worker.kill('SIGTERM');
    expect(await end).toBe(0);
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', attempts: 0 });
    expect(await services()).toEqual([]);
    await takeOut(jobId);
  });

  test('a worker killed with -9 while it makes a face track takes its inference process with it, and one that waits for the track replaces it', async () => {
    const worker = startService();
    await untilServing();
    const videoId = await fixture.newVideo('face');
    const making = await fixture.render({ audio: 'short', prepared: false, videoId });
    const waiting = await fixture.render({ audio: 'short', prepared: false, videoId });
    const makers = () =>
      fixture.factories.query('SELECT maker_job_id FROM features WHERE maker_job_id IS NOT NULL');
    keepJobsFromEnding();
    await queues.add('musetalk', { jobId: making.jobId, enqueueSeq: 1 });
    const child = await eventually(() => onlyChildOf(worker));
    await eventually(async () => expect(await makers()).toEqual([{ maker_job_id: making.jobId }]));
    worker.kill('SIGKILL');
    fixture.s3.faults.clear();
    // However long the next worker takes to start, it finds the previous worker's lease still running.
    const setLease = (fromNow: string) =>
      fixture.factories.query(`UPDATE jobs SET lease_until = now() + $2::interval WHERE id = $1`, [
        making.jobId,
        fromNow,
      ]);
    await setLease('1 hour');
    // It would occupy a GPU.
    await eventually(() => expect(isAlive(child)).toBe(false));

    startService({ WORK_DIR: join(folder, 'second-work') });
    await queues.add('musetalk', { jobId: waiting.jobId, enqueueSeq: 1 });
    await untilRun(waiting.runId, { status: 'processing' });
    expect(await makers()).toEqual([{ maker_job_id: making.jobId }]);
    // Expires the lease, which would otherwise take up to fifteen seconds.
    await setLease('-1 ms');
    await untilRun(waiting.runId, { status: 'completed' });
    const { usage } = await fixture.row('engine_runs', waiting.runId);
    expect(usage).toMatchObject({ analyzed_frames: expect.any(Number) as number });
    expect(usage).not.toMatchObject({ analyzed_frames: 0 });
    await fixture.factories.query("DELETE FROM workers WHERE service = 'gpu-worker'");
  });

  test('without any model pack it serves no queue, and stays up', async () => {
    startService({ MODEL_PACKS_DIR: join(folder, 'nowhere') });
    await eventually(async () => expect(await services()).toEqual([{}]));
  });

  test('an invalid setting stops it with a message instead of a half-configured start', async () => {
    const worker = startService({ ENGINES: 'musetalk,unknown' });
    const stderr = keepTail(worker.stderr ?? Readable.from([]));
    expect(await ended(worker)).toBe(1);
    expect(stderr()).toContain('ENGINES.1: must be one of musetalk');
  });
});

async function onlyChildOf(worker: ChildProcess): Promise<number> {
  const [child, ...others] = await inferenceChildren(worker.pid ?? 0);
  if (child === undefined || others.length > 0) throw new Error('expected one inference process');
  return child;
}

/** Read from /proc where it exists: a slim Linux has no pgrep. */
async function inferenceChildren(parent: number): Promise<number[]> {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(parent), '-f', 'inference/main']);
    return stdout.trim().split('\n').map(Number);
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isInferenceChild(pid, parent)).map(Number);
}

/** proc_pid_stat(5): the state and the parent follow the command's closing bracket. */
function isInferenceChild(pid: string, parent: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (
      Number(parentPid) === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('inference/main')
    );
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
