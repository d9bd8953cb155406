import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cancelRender, claimJob } from '@lipsync/db';
import { buildBuiltinPacks } from '@lipsync/engines';
import { createLogger } from '@lipsync/runtime';
import { untraced } from '@lipsync/telemetry';
import { eventually, parseExposition } from '@lipsync/testkit';
import { createJobFolders } from '@lipsync/worker';
import { findPacks } from '../host/find-packs';
import { createInferenceHost, type InferenceHost } from '../host/inference-host';
import { COMPILED_CHILD } from '../test/compiled';
import { createRenderFixture, type RenderFixture } from '../test/render-fixture';
import { fixedPrice } from '../usage/pod-cost';
import { createPodMeter } from '../usage/pod-meter';
import { createDiskCache } from './disk-cache';
import { createGpuJobRunner, type GpuJobRunner, type GpuJobRunnerDeps } from './gpu-job-runner';
import { createSlotPool } from './gpu-job-runner';

const never = new AbortController().signal;

describe('job runner', () => {
  let folder: string;
  let fixture: RenderFixture;
  let host: InferenceHost;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runner-'));
    await buildBuiltinPacks(join(folder, 'packs'));
    fixture = await createRenderFixture(folder);
    host = createInferenceHost({ entry: COMPILED_CHILD });
  }, 60_000);
  afterEach(() => fixture.s3.faults.clear());
  afterAll(async () => {
    host.kill();
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function runner(
    options: Partial<Pick<GpuJobRunnerDeps, 'limitMs' | 'telemetry' | 'packs' | 'onUnfit'>> & {
      host?: InferenceHost;
    } = {},
  ): Promise<GpuJobRunner> {
    const logger = createLogger({ service: 'test', level: 'silent' });
    return createGpuJobRunner({
      db: fixture.db,
      storage: fixture.storage,
      packs: options.packs ?? (await findPacks(join(folder, 'packs'))),
      ...(options.onUnfit && { onUnfit: options.onUnfit }),
      cache: await createDiskCache({ folder: join(folder, 'cache'), maxBytes: 1e9 }),
      folders: await createJobFolders(join(folder, 'jobs')),
      slots: createSlotPool([options.host ?? host]),
      workerId: 'worker-under-test',
      limitMs: options.limitMs ?? 300_000,
      telemetry: options.telemetry ?? untraced(),
      podMeter: createPodMeter({
        costs: [fixedPrice({ usdPerHour: 3.6, incrementSeconds: 1 })],
        slots: 1,
        gpuModels: ['a GPU that nobody used'],
        logger,
      }),
      logger,
    });
  }

  const rowOf = async (table: 'renders' | 'engine_runs' | 'preparations', id: string) => {
    const [row] = await fixture.factories.query<Record<string, unknown>>(
      `SELECT * FROM ${table} WHERE id = $1`,
      [id],
    );
    return row;
  };
  /** Waits until the child is in the middle of generating frames. */
  const untilInferencing = (runId: string) =>
    eventually(
      async () => {
        const row = await rowOf('engine_runs', runId);
        expect(row).toMatchObject({ stage: 'inferencing' });
        expect(row?.['progress_percent']).toBeGreaterThan(0);
      },
      { deadlineMs: 60_000 },
    );
  const pidOf = (): number => {
    const pid = host.pid();
    if (pid === undefined) throw new Error('no child');
    return pid;
  };

  test('a render is stored under its fence and completed with its measurements', async () => {
    const { jobId, runId, renderId } = await fixture.render({ audio: 'short', prepared: true });
    await (await runner()).run(jobId, never);

    const outputKey = `outputs/${runId}/1/video.mp4`;
    const run = await rowOf('engine_runs', runId);
    const usage = run?.['usage'] as Record<string, unknown>; // a JSON column
    expect(run).toMatchObject({
      status: 'completed',
      progress_percent: 100,
      output_key: outputKey,
      usage: {
        input_video_seconds: 0.8,
        input_audio_seconds: 0.6,
        output_seconds: 0.6,
        analyzed_frames: 0,
        rendered_frames: 15,
        processing_ms: expect.any(Number) as number,
        // The price is a tenth of a cent per second, and the only attempt was observed from start to end.
        estimated_compute_usd: expect.closeTo(Number(usage['billed_pod_seconds']) / 1000, 5) as number,
        estimate_coverage: 'observed',
        gpu_inference_seconds: null,
        gpu_models: [],
      },
    });
    expect(await rowOf('renders', renderId)).toMatchObject({ status: 'completed' });
    expect(await fixture.storage.head(outputKey)).toMatchObject({ contentType: 'video/mp4' });
    expect(await readdir(join(folder, 'jobs'))).toEqual([]);
  }, 60_000);

  test('durations, savings and outcomes of renders and preparations are counted by engine', async () => {
    const telemetry = untraced();
    const jobs = await runner({ telemetry });
    for (let i = 0; i < 2; i += 1)
      await jobs.run((await fixture.render({ audio: 'short', prepared: true })).jobId, never);

    const told = parseExposition(await telemetry.metrics.text());
    const engine = 'musetalk';
    const stage = (name: string) =>
      told.value('lipsync_stage_duration_seconds_count', { engine, stage: name });
    expect(['fetch', 'infer', 'encode', 'upload'].map(stage)).toEqual([2, 2, 2, 2]);
    // The preparation's track already existed: nothing was analyzed, so nothing is reported for that stage.
    expect(stage('analyse')).toBeUndefined();
    expect(told.value('lipsync_render_realtime_factor_count', { engine })).toBe(2);
    expect(told.value('lipsync_render_realtime_factor_sum', { engine })).toBeGreaterThan(0);
    expect(told.value('lipsync_output_seconds_total', { engine })).toBeCloseTo(1.2);
    expect(told.value('lipsync_gpu_seconds_total', { engine })).toBe(0);
    expect(told.value('lipsync_render_without_face_ratio_count', { engine })).toBe(2);
    const cache = (name: string, result: string) =>
      told.value('lipsync_cache_requests_total', { cache: name, result });
    expect(cache('face_track', 'hit')).toBe(2);
    expect((cache('inputs', 'hit') ?? 0) + (cache('inputs', 'miss') ?? 0)).toBe(4);
    expect(told.value('lipsync_jobs_total', { queue: engine, outcome: 'completed' })).toBe(2);
  }, 60_000);

  test('a video without a face fails render and preparation at once: a retry would not help', async () => {
    const jobs = await runner();
    const { jobId, renderId } = await fixture.render({ audio: 'short', prepared: false });
    await jobs.run(jobId, never);
    expect(await rowOf('renders', renderId)).toMatchObject({
      status: 'failed',
      error_code: 'no_face_detected',
    });

    const preparation = await fixture.preparation();
    await jobs.run(preparation.jobId, never);
    expect(await rowOf('preparations', preparation.preparationId)).toMatchObject({
      status: 'failed',
      error_code: 'no_face_detected',
    });
    expect(await fixture.job(preparation.jobId)).toMatchObject({ status: 'finished', attempts: 1 });
  }, 60_000);

  test('a child killed with -9 in the middle costs an attempt, and the next one completes the render', async () => {
    const { jobId, runId, renderId } = await fixture.render({ audio: 'long', prepared: true });
    const jobs = await runner();
    const running = jobs.run(jobId, never);
    await untilInferencing(runId);
    const killed = pidOf();
    process.kill(killed, 'SIGKILL');
    await running;
    expect(await fixture.job(jobId)).toMatchObject({
      status: 'queued',
      attempts: 1,
      last_error_code: 'worker_lost',
    });
    expect(await rowOf('renders', renderId)).toMatchObject({ status: 'processing' });

    await fixture.factories.query(`UPDATE jobs SET available_at = now() - interval '1 ms' WHERE id = $1`, [
      jobId,
    ]);
    await jobs.run(jobId, never);
    expect(pidOf()).not.toBe(killed);
    expect(await rowOf('engine_runs', runId)).toMatchObject({
      status: 'completed',
      output_key: `outputs/${runId}/2/video.mp4`,
    });
    expect(await fixture.storage.head(`outputs/${runId}/1/video.mp4`)).toBeNull();
  }, 120_000);

  test('a cancelled render stops between two batches; its child survives and nothing is stored', async () => {
    const { jobId, runId, renderId, customerId } = await fixture.render({ audio: 'long', prepared: true });
    const jobs = await runner();
    const running = jobs.run(jobId, never);
    await untilInferencing(runId);
    const child = pidOf();
    const { cancelledJobIds } = await cancelRender(fixture.db, customerId, renderId);
    cancelledJobIds.forEach((id) => jobs.checkCancelled(id));
    await running;

    expect(pidOf()).toBe(child);
    expect(await rowOf('engine_runs', runId)).toMatchObject({ status: 'cancelled', output_key: null });
    expect(await fixture.storage.head(`outputs/${runId}/1/video.mp4`)).toBeNull();
    const { jobId: nextId, runId: nextRun } = await fixture.render({ audio: 'short', prepared: true });
    await jobs.run(nextId, never);
    expect(await rowOf('engine_runs', nextRun)).toMatchObject({ status: 'completed' });
  }, 60_000);

  test('without any signal the next heartbeat discovers a cancellation', async () => {
    const { jobId, runId, renderId, customerId } = await fixture.render({ audio: 'long', prepared: true });
    const running = (await runner()).run(jobId, never);
    await untilInferencing(runId);
    await cancelRender(fixture.db, customerId, renderId);
    await running;
    expect(await rowOf('renders', renderId)).toMatchObject({ status: 'cancelled' });
    expect(await fixture.storage.head(`outputs/${runId}/1/video.mp4`)).toBeNull();
  }, 60_000);

  test('a preempted job is requeued at once and keeps its attempts', async () => {
    const { jobId, runId } = await fixture.render({ audio: 'long', prepared: true });
    const preempt = new AbortController();
    const running = (await runner()).run(jobId, preempt.signal);
    await untilInferencing(runId);
    preempt.abort();
    await running;
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', attempts: 0, last_error_code: null });
    await fixture.factories.query("UPDATE jobs SET status = 'finished' WHERE id = $1", [jobId]);
  }, 60_000);

  test('a job that takes longer than its limit fails with engine_timeout', async () => {
    const { jobId, renderId } = await fixture.render({ audio: 'long', prepared: true });
    await (await runner({ limitMs: 1_000 })).run(jobId, never);
    expect(await rowOf('renders', renderId)).toMatchObject({
      status: 'failed',
      error_code: 'engine_timeout',
    });
  }, 60_000);

  test('a finished output waits for an object store that is briefly unavailable', async () => {
    const { jobId, renderId } = await fixture.render({ audio: 'short', prepared: true });
    let refused = 0;
    const applies = ({ method, key }: { method: string; key: string }) =>
      method === 'PUT' && key.startsWith('outputs/') && refused++ < 6;
    fixture.s3.faults.set({ slowDownRate: 1, applies });
    await (await runner()).run(jobId, never);
    expect(refused).toBe(7);
    expect(await fixture.job(jobId)).toMatchObject({ status: 'finished', attempts: 1 });
    expect(await rowOf('renders', renderId)).toMatchObject({ status: 'completed' });
  }, 60_000);

  test('an unavailable object store costs neither the render nor an attempt', async () => {
    const { jobId, renderId } = await fixture.render({ audio: 'short', prepared: true });
    fixture.s3.faults.set({ slowDownRate: 1, applies: ({ method }) => method === 'GET' });
    // Forces the inputs to be fetched.
    await rm(join(folder, 'cache'), { recursive: true, force: true });
    await (await runner()).run(jobId, never);
    expect(await fixture.job(jobId)).toMatchObject({
      status: 'queued',
      attempts: 0,
      last_error_code: 'storage_failed',
    });
    expect(await rowOf('renders', renderId)).toMatchObject({ status: 'processing' });
  }, 60_000);

  test('while it is unavailable nothing is rendered, even if all inputs are cached', async () => {
    const { jobId } = await fixture.render({ audio: 'short', prepared: true });
    fixture.s3.faults.set({ slowDownRate: 1 });
    const untouched = createInferenceHost({ entry: join(folder, 'no-such-child.js') });
    await (await runner({ host: untouched })).run(jobId, never);
    expect(await fixture.job(jobId)).toMatchObject({
      status: 'queued',
      attempts: 0,
      last_error_code: 'storage_failed',
    });
  }, 60_000);

  test('a job whose pack was replaced is handed back at no cost, and no further job is taken', async () => {
    const found = await findPacks(join(folder, 'packs'));
    const musetalk = found.engines.get('musetalk');
    if (!musetalk) throw new Error('no pack');
    const packs = { ...found, engines: new Map([['musetalk' as const, { ...musetalk, digest: 'before' }]]) };
    let told = 0;
    const jobs = await runner({ packs, onUnfit: () => void told++ });
    const [first, second] = [
      await fixture.render({ audio: 'short', prepared: true }),
      await fixture.render({ audio: 'short', prepared: true }),
    ];
    await jobs.run(first.jobId, never);
    await jobs.run(second.jobId, never);
    expect(told).toBe(1);
    const untouched = { status: 'queued', attempts: 0, last_error_code: null };
    expect(await fixture.job(first.jobId)).toMatchObject({ ...untouched, fence: 1 });
    expect(await fixture.job(second.jobId)).toMatchObject({ ...untouched, fence: 0 });
  }, 60_000);

  test('a GPU that fails a second job in a fresh process costs that job nothing, and no further job is taken', async () => {
    const entry = join(folder, 'failing.js');
    await writeFile(
      entry,
      `process.on('message', ({ jobId }) => process.send(
         { type: 'failed', jobId, code: 'engine_failed', detail: 'CUDA error 700', graphFailed: true }));`,
    );
    const failing = createInferenceHost({ entry });
    const found = await findPacks(join(folder, 'packs'));
    const engines = new Map(
      [...found.engines].map(([engine, pack]) => [engine, { ...pack, provider: 'cuda' as const }]),
    );
    const reasons: string[] = [];
    const onUnfit = (reason: string): void => void reasons.push(reason);
    const jobs = await runner({ host: failing, packs: { ...found, engines }, onUnfit });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) ids.push((await fixture.render({ audio: 'short', prepared: true })).jobId);
    for (const id of ids) await jobs.run(id, never);
    failing.kill();

    expect(reasons).toEqual(['graphs fail on the GPU, in a fresh process too']);
    const untouched = { status: 'queued', attempts: 0, last_error_code: null };
    expect(await Promise.all(ids.map((id) => fixture.job(id)))).toMatchObject([
      { status: 'queued', attempts: 1, last_error_code: 'engine_failed' },
      { ...untouched, fence: 1 },
      { ...untouched, fence: 0 },
    ]);
  }, 60_000);

  test('a message about a job that another worker holds changes nothing', async () => {
    const { jobId } = await fixture.render({ audio: 'short', prepared: true });
    await claimJob(fixture.db, jobId, { workerId: 'another', leaseSeconds: 60 });
    const before = await fixture.job(jobId);
    await (await runner()).run(jobId, never);
    expect(await fixture.job(jobId)).toEqual(before);
  });
});
