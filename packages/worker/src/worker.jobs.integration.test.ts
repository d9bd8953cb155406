import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  claimJob,
  createAsset,
  createCustomer,
  createDb,
  createRender,
  type Db,
  registerWorker,
} from '@lipsync/db';
import { createLogger } from '@lipsync/runtime';
import { openTelemetry, untraced } from '@lipsync/telemetry';
import {
  createTestDatabase,
  parseExposition,
  startOtlpCollector,
  TEST_ACT,
  type TestDatabase,
} from '@lipsync/testkit';
import { createJobFolders } from './job-folders';
import { LeaseLost } from './lease-keeper';
import { createJobRunner, type JobResult, type JobRunner, type JobRunnerOptions } from './worker';

const NEVER = new AbortController().signal;
const nothing = async (): Promise<JobResult> => ({ accepted: true, facts: {} });
/** Work that continues until it is stopped, and then fails like a killed process. */
const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(new Error('killed'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });

describe('the run of one job', () => {
  let root: string;
  let database: TestDatabase;
  let db: Db;
  let customerId: string;
  let lines: string[];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'runner-'));
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 3, publicBaseUrl: 'https://api.example.com' });
    customerId = (await createCustomer(db, TEST_ACT, { name: 'A', sealSecret: () => new Uint8Array(1) })).id;
  });
  beforeEach(() => (lines = []));
  afterAll(async () => {
    await db.close();
    await database.drop();
    await rm(root, { recursive: true, force: true });
  });

  async function runner(options: Partial<JobRunnerOptions> = {}): Promise<JobRunner> {
    return createJobRunner({
      db,
      workerId: 'w',
      folders: await createJobFolders(join(root, 'jobs')),
      classifyError: () => ({ kind: 'retry', code: 'internal_error' }),
      logger: createLogger({
        service: 'test',
        destination: { write: (line: string) => void lines.push(line) },
      }),
      telemetry: untraced(),
      ...options,
    });
  }

  async function newJob(traceParent?: string): Promise<string> {
    const url = 'https://media.example.com/a.mp4';
    const request = { customerId, mediaType: 'video' as const, url, ttlSeconds: 600, traceParent };
    const asset = await createAsset(db, request);
    return (await db.prisma.job.findUniqueOrThrow({ where: { assetId: asset.id } })).id;
  }

  /** A render whose inputs are never read. */
  async function newRenderJob(): Promise<{ id: string; renderId: string; engineRunId: string }> {
    await registerWorker(db, { id: 'gpu', service: 'gpu-worker', slots: { musetalk: 1 } });
    const url = 'https://media.example.com/a.mp4';
    const request = { video: { url }, audio: { url }, engines: ['musetalk' as const] };
    const input = { customerId, request: { ...request, sync_mode: 'loop' as const }, idempotency: null };
    const created = await createRender(db, { ...input, ttlSeconds: 600 });
    const [run] = created.runs;
    if (run === undefined) throw new Error('nothing was created');
    const { id } = await db.prisma.job.update({
      where: { engineRunId: run.id },
      data: { status: 'queued' },
    });
    return { id, renderId: created.render.id, engineRunId: run.id };
  }
  const told = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const rowOf = (id: string) => db.prisma.job.findUniqueOrThrow({ where: { id } });

  test('a job that another worker holds is not worked on', async () => {
    const id = await newJob();
    await claimJob(db, id, { workerId: 'other', leaseSeconds: 60 });
    const work = jest.fn(nothing);
    expect(await (await runner()).run(id, NEVER, work)).toBeNull();
    expect(work).not.toHaveBeenCalled();
  });

  test('a failed attempt is recorded, its folder is removed, and one log line tells the outcome', async () => {
    const id = await newJob();
    const ended = await (await runner()).run(id, NEVER, () => Promise.reject(new Error('disk full')));
    expect(ended?.outcome).toBe('requeued');
    expect(await rowOf(id)).toMatchObject({ status: 'queued', attempts: 1, lastErrorCode: 'internal_error' });
    expect(await readdir(join(root, 'jobs'))).toEqual([]);
    const { assetId } = await rowOf(id);
    expect(told()).toMatchObject([
      {
        event: 'job',
        job_id: id,
        kind: 'ingest',
        outcome: 'requeued',
        code: 'internal_error',
        customer_id: customerId,
        asset_id: assetId,
      },
    ]);
    for (const other of ['preparation_id', 'render_id', 'engine_run_id'])
      expect(told()[0]).not.toHaveProperty(other);
  });

  test('the log line of an engine run contains the render id that the customer knows', async () => {
    const { id, renderId, engineRunId } = await newRenderJob();
    await (await runner()).run(id, NEVER, nothing);
    expect(told()).toMatchObject([
      {
        event: 'job',
        job_id: id,
        kind: 'render',
        queue: 'musetalk',
        attempt: 1,
        fence: 1,
        customer_id: customerId,
        render_id: renderId,
        engine_run_id: engineRunId,
      },
    ]);
  });

  test('a claim of a job whose lease ran out reports which worker lost it', async () => {
    const { id, renderId, engineRunId } = await newRenderJob();
    await claimJob(db, id, { workerId: 'killed', leaseSeconds: 60 });
    await db.prisma.job.update({ where: { id }, data: { leaseUntil: new Date(0) } });
    await (await runner()).run(id, NEVER, nothing);
    const job = { job_id: id, customer_id: customerId, render_id: renderId, engine_run_id: engineRunId };
    expect(told()).toMatchObject([
      { event: 'job_recovered', ...job, attempt: 1, fence: 1, worker_id: 'killed', outcome: 'claimed' },
      { event: 'job', ...job, attempt: 2, fence: 2, outcome: 'completed' },
    ]);
  });

  test('every claim is counted by queue and outcome, with its wait and duration, and occupies one slot meanwhile', async () => {
    const telemetry = untraced();
    const jobs = await runner({ telemetry });
    const told = async () => parseExposition(await telemetry.metrics.text());
    const during: (number | undefined)[] = [];
    await jobs.run(await newJob(), NEVER, async () => {
      during.push((await told()).value('lipsync_slots_busy'));
      return { accepted: true, facts: {} };
    });
    await jobs.run(await newJob(), NEVER, () => Promise.reject(new Error('disk full')));
    const metrics = await told();
    const ended = (outcome: string) => metrics.value('lipsync_jobs_total', { queue: 'media', outcome });
    expect([ended('completed'), ended('requeued'), ended('failed')]).toEqual([1, 1, undefined]);
    expect(metrics.value('lipsync_queue_wait_seconds_count', { queue: 'media' })).toBe(2);
    const completed = { queue: 'media', outcome: 'completed' };
    expect(metrics.value('lipsync_job_duration_seconds_count', completed)).toBe(1);
    expect([...during, metrics.value('lipsync_slots_busy')]).toEqual([1, 0]);
  });

  test('a job continues the trace of its request, with spans for its stages and the trace id in the log', async () => {
    const collector = await startOtlpCollector();
    const telemetry = await openTelemetry({
      service: 'media-worker',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER_ARG: 1 },
      logger: createLogger({ service: 'test', level: 'silent' }),
      lifecycle: { onShutdown: () => undefined },
    });
    const traceId = 'a'.repeat(32);
    const id = await newJob(`00-${traceId}-${'b'.repeat(16)}-01`);
    const jobs = await runner({ telemetry });
    await jobs.run(id, NEVER, ({ span }) => span.during('fetch', () => Promise.reject(new Error('no'))));
    await telemetry.tracing.close();
    const [fetch, job] = collector.spans();
    expect(job).toMatchObject({
      service: 'media-worker',
      name: 'ingest',
      kind: 5,
      traceId,
      parentSpanId: 'b'.repeat(16),
      failed: true,
      attributes: {
        'lipsync.job_id': id,
        'lipsync.queue': 'media',
        'lipsync.attempt': 1,
        'lipsync.queue_wait_seconds': expect.any(Number) as number,
        'lipsync.outcome': 'requeued',
        'error.type': 'internal_error',
      },
    });
    expect(fetch).toMatchObject({ name: 'fetch', traceId, parentSpanId: job?.spanId, failed: true });
    expect(told()).toMatchObject([{ job_id: id, trace_id: traceId }]);
    await collector.close();
  });

  test('a job that finishes after it was claimed elsewhere counts as lost, not as completed', async () => {
    const id = await newJob();
    const ended = await (await runner()).run(id, NEVER, async () => ({ accepted: false, facts: {} }));
    expect(ended?.outcome).toBe('lost');
  });

  test('a cancel hint makes it check at once; work on a job that was claimed elsewhere is stopped and not recorded', async () => {
    const id = await newJob();
    const jobs = await runner();
    const reasons: unknown[] = [];
    const ended = await jobs.run(id, NEVER, async ({ signal }) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      await db.prisma.job.update({ where: { id }, data: { leaseUntil: new Date(0) } });
      await claimJob(db, id, { workerId: 'other', leaseSeconds: 60 });
      jobs.checkCancelled(id);
      return untilStopped(signal);
    });
    expect(reasons).toEqual([new LeaseLost('refused')]);
    expect(ended?.outcome).toBe('dropped');
    // Whatever error the work itself throws.
    expect(told()).toMatchObject([{ job_id: id, error: { name: 'LeaseLost' } }]);
    expect(await rowOf(id)).toMatchObject({ status: 'running', workerId: 'other', fence: 2 });
  });

  test('a job claimed while the worker is shutting down is handed back, and its attempt refunded', async () => {
    const id = await newJob();
    const gone = AbortSignal.abort();
    const ended = await (await runner()).run(id, gone, ({ signal }) => untilStopped(signal));
    expect(ended?.outcome).toBe('released');
    expect(await rowOf(id)).toMatchObject({ status: 'queued', attempts: 0 });
  });

  test('a job that exceeds its time limit fails with the code of the limit', async () => {
    const id = await newJob();
    const jobs = await runner({ limit: { ms: 10, code: 'engine_timeout' } });
    const ended = await jobs.run(id, NEVER, ({ signal }) => untilStopped(signal));
    expect(ended?.outcome).toBe('failed');
    expect(await rowOf(id)).toMatchObject({ status: 'finished', lastErrorCode: 'engine_timeout' });
  });
});
