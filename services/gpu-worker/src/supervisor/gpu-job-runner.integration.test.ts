import { readdir, writeFile } from 'node:fs/promises';
import { cancelRender, claimJob } from '@lipsync/db';
import { untraced } from '@lipsync/telemetry';
import { eventually, parseExposition, testFolder } from '@lipsync/testkit';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { createInferenceHost } from '../host/inference-host';
import { createRenderFixture, type RenderFixture } from '../test/render-fixture';
import { createScriptedHost, renderResult, SCRIPTED_MEDIA, SCRIPTED_PACKS } from '../test/scripted-host';
import { createTestWorkers, type TestWorkers } from '../test/test-workers';

const never = new AbortController().signal;
const refuses = (error: Error) => () => Promise.reject(error);

describe('job runner', () => {
  const at = testFolder();
  let fixture: RenderFixture;
  let workers: TestWorkers;
  const host = createScriptedHost();

  beforeAll(async () => {
    fixture = await createRenderFixture(SCRIPTED_MEDIA);
    workers = createTestWorkers({ fixture, packs: SCRIPTED_PACKS, host, folder: at() });
  });
  beforeEach(() => workers.warnings());
  afterEach(() => fixture.s3.faults.clear());
  afterAll(() => fixture.close());

  const newRender = (audio: 'short' | 'long' = 'short') => fixture.render({ audio, prepared: true });
  /** Waits until the child is in the middle of generating frames. */
  const untilInferencing = (runId: string) =>
    eventually(async () =>
      expect(await fixture.row('engine_runs', runId)).toMatchObject({ stage: 'inferencing' }),
    );
  /** Whether the output of an attempt is in the store. */
  const isStored = async (runId: string, fence = 1): Promise<boolean> =>
    (await fixture.storage.head(`outputs/${runId}/${fence}/video.mp4`)) !== null;

  test('a render is stored under its fence and completed with its measurements, in its row and in the metrics', async () => {
    const telemetry = untraced();
    const { jobId, runId, renderId } = await newRender();
    await workers.perform({ jobId }, { telemetry });

    const outputKey = `outputs/${runId}/1/video.mp4`;
    const run = await fixture.row('engine_runs', runId);
    const usage = run['usage'] as Record<string, unknown>; // a JSON column
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
    expect(await fixture.row('renders', renderId)).toMatchObject({ status: 'completed' });
    expect(await fixture.storage.head(outputKey)).toMatchObject({ contentType: 'video/mp4' });
    const [own = ''] = await readdir(at());
    expect(await readdir(at(own, 'jobs'))).toEqual([]);

    const told = parseExposition(await telemetry.metrics.text());
    const engine = 'musetalk';
    const stage = (name: string) =>
      told.value('lipsync_stage_duration_seconds_count', { engine, stage: name });
    expect(['fetch', 'infer', 'encode', 'upload'].map(stage)).toEqual([1, 1, 1, 1]);
    // The preparation's track already existed: nothing was analyzed, so nothing is reported for that stage.
    expect(stage('analyze')).toBeUndefined();
    expect(told.value('lipsync_render_realtime_factor_sum', { engine })).toBeGreaterThan(0);
    expect(told.value('lipsync_output_seconds_total', { engine })).toBeCloseTo(0.6);
    expect(told.value('lipsync_gpu_seconds_total', { engine })).toBe(0);
    const cache = (name: string, result: string) =>
      told.value('lipsync_cache_requests_total', { cache: name, result });
    expect([cache('face_track', 'hit'), cache('inputs', 'miss')]).toEqual([1, 2]);
    expect(told.value('lipsync_jobs_total', { queue: engine, outcome: 'completed' })).toBe(1);
  });

  test('a render whose output could not be measured completes, with the reason in the log', async () => {
    const { quality } = renderResult();
    const render = async (...task: Parameters<typeof host.render>) => ({
      ...(await host.render(...task)),
      quality: { ...quality, syncCorrelation: null, problem: 'no landmarks68.onnx' },
    });
    const facts = await workers.perform(await newRender(), { host: { ...host, render } });
    expect(facts).toMatchObject({ outcome: 'completed', quality: { problem: 'no landmarks68.onnx' } });
    expect(workers.warnings()).toEqual(['the output could not be judged']);
  });

  test('a child killed with -9 in the middle costs an attempt, and the next one completes the render', async () => {
    const { jobId, runId, renderId } = await newRender();
    const render = refuses(new InferenceCrash({ code: null, signal: 'SIGKILL' }, ''));
    await workers.perform({ jobId }, { host: { ...host, render } });
    expect(await fixture.job(jobId)).toMatchObject({
      status: 'queued',
      attempts: 1,
      last_error_code: 'worker_lost',
    });
    expect(await fixture.row('renders', renderId)).toMatchObject({ status: 'processing' });

    await fixture.retryNow(jobId);
    await workers.perform({ jobId });
    expect(await fixture.row('engine_runs', runId)).toMatchObject({
      status: 'completed',
      output_key: `outputs/${runId}/2/video.mp4`,
    });
    expect([await isStored(runId, 1), await isStored(runId, 2)]).toEqual([false, true]);
  });

  test.each([
    ['is stopped by the signal', true],
    ['is noticed at the next heartbeat without any signal', false],
  ])('a cancelled render %s, and nothing is stored', async (_, hint) => {
    const { jobId, runId, renderId, customerId } = await newRender('long');
    const worker = await workers.newWorker();
    const running = worker.run(jobId, never);
    await untilInferencing(runId);
    const { cancelledJobIds } = await cancelRender(fixture.db, customerId, renderId);
    if (hint) cancelledJobIds.forEach((id) => worker.checkCancelled(id));
    await running;
    expect(await fixture.row('renders', renderId)).toMatchObject({ status: 'cancelled' });
    expect(await fixture.row('engine_runs', runId)).toMatchObject({ status: 'cancelled', output_key: null });
    expect(await isStored(runId)).toBe(false);
  });

  test('a preempted job is requeued at once and keeps its attempts', async () => {
    const { jobId, runId } = await newRender('long');
    const preempt = new AbortController();
    const running = (await workers.newWorker()).run(jobId, preempt.signal);
    await untilInferencing(runId);
    preempt.abort();
    await running;
    expect(await fixture.job(jobId)).toMatchObject({ status: 'queued', attempts: 0, last_error_code: null });
  });

  test('a job that takes longer than its limit fails with engine_timeout', async () => {
    const { jobId, renderId } = await newRender('long');
    await workers.perform({ jobId }, { limitMs: 500 });
    expect(await fixture.row('renders', renderId)).toMatchObject({
      status: 'failed',
      error_code: 'engine_timeout',
    });
  });

  test('a finished output waits for an object store that is briefly unavailable', async () => {
    const { jobId, renderId } = await newRender();
    let refused = 0;
    const applies = ({ method, key }: { method: string; key: string }) =>
      method === 'PUT' && key.startsWith('outputs/') && refused++ < 6;
    fixture.s3.faults.set({ slowDownRate: 1, applies });
    await workers.perform({ jobId });
    expect(refused).toBe(7);
    expect(await fixture.job(jobId)).toMatchObject({ status: 'finished', attempts: 1 });
    expect(await fixture.row('renders', renderId)).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['whose inputs are to be fetched', false, 'GET'],
    ['whose inputs are all cached, and nothing is rendered', true, undefined],
  ])('an unavailable object store costs no attempt of a render %s', async (_, isCached, method) => {
    let renders = 0;
    const render = (...task: Parameters<typeof host.render>) => {
      renders++;
      return host.render(...task);
    };
    const worker = await workers.newWorker({ host: { ...host, render } });
    if (isCached) await worker.run((await newRender()).jobId, never);
    const before = renders;
    fixture.s3.faults.set({
      slowDownRate: 1,
      applies: (request) => method === undefined || request.method === method,
    });
    const { jobId, renderId } = await newRender();
    await worker.run(jobId, never);
    expect(await fixture.job(jobId)).toMatchObject({
      status: 'queued',
      attempts: 0,
      last_error_code: 'storage_failed',
    });
    expect(await fixture.row('renders', renderId)).toMatchObject({ status: 'processing' });
    expect(renders).toBe(before);
  });

  const UNTOUCHED = { status: 'queued', attempts: 0, last_error_code: null };

  test('a job whose pack was replaced is handed back at no cost, and no further job is taken', async () => {
    let told = 0;
    const render = refuses(new InferenceFailure('pack_lost', ''));
    const worker = await workers.newWorker({ host: { ...host, render }, onUnfit: () => void told++ });
    const [first, second] = [await newRender(), await newRender()];
    await worker.run(first.jobId, never);
    await worker.run(second.jobId, never);
    expect(told).toBe(1);
    expect(await fixture.job(first.jobId)).toMatchObject({ ...UNTOUCHED, fence: 1 });
    expect(await fixture.job(second.jobId)).toMatchObject({ ...UNTOUCHED, fence: 0 });
  });

  test('a GPU that fails a second job in a fresh process costs that job nothing, and no further job is taken', async () => {
    const entry = at('failing.js');
    await writeFile(
      entry,
      `process.on('message', ({ jobId }) => process.send(
         { type: 'failed', jobId, code: 'engine_failed', detail: 'CUDA error 700', graphFailed: true }));`,
    );
    const failing = createInferenceHost({ entry });
    const engines = new Map(
      [...SCRIPTED_PACKS.engines].map(([engine, pack]) => [engine, { ...pack, provider: 'cuda' as const }]),
    );
    const reasons: string[] = [];
    const onUnfit = (reason: string): void => void reasons.push(reason);
    const worker = await workers.newWorker({
      host: failing,
      packs: { ...SCRIPTED_PACKS, engines },
      onUnfit,
    });
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) ids.push((await newRender()).jobId);
    for (const id of ids) await worker.run(id, never);
    failing.kill();

    expect(reasons).toEqual(['graphs fail on the GPU, in a fresh process too']);
    expect(await Promise.all(ids.map((id) => fixture.job(id)))).toMatchObject([
      { status: 'queued', attempts: 1, last_error_code: 'engine_failed' },
      { ...UNTOUCHED, fence: 1 },
      { ...UNTOUCHED, fence: 0 },
    ]);
  });

  test('a message about a job that another worker holds changes nothing', async () => {
    const { jobId } = await newRender();
    await claimJob(fixture.db, jobId, { workerId: 'another', leaseSeconds: 60 });
    const before = await fixture.job(jobId);
    await workers.perform({ jobId });
    expect(await fixture.job(jobId)).toEqual(before);
  });
});
