import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimJob, createAsset, createCustomer, createDb, type Db } from '@lipsync/db';
import { createLogger } from '@lipsync/runtime';
import { createTestDatabase, type TestDatabase } from '@lipsync/testkit';
import { createJobFolders } from './job-folders';
import { createJobRunner, type JobResult, type JobRunner, type JobRunnerOptions } from './job-runner';
import { LeaseLost } from './lease-keeper';

const NEVER = new AbortController().signal;
const nothing = async (): Promise<JobResult> => ({ accepted: true, facts: {} });
/** Work that goes on until it is stopped, and then fails as a killed process does. */
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
    customerId = (await createCustomer(db, { name: 'A', sealSecret: () => new Uint8Array(1) })).id;
  });
  beforeEach(() => (lines = []));
  afterAll(async () => {
    await db.close();
    await database.drop();
    await rm(root, { recursive: true, force: true });
  });

  async function runner(options: Partial<JobRunnerOptions> = {}): Promise<JobRunner> {
    return createJobRunner({
      ...{ db, workerId: 'w' },
      folders: await createJobFolders(join(root, 'jobs')),
      blame: () => ({ kind: 'retry', code: 'internal_error' }),
      logger: createLogger({
        service: 'test',
        destination: { write: (line: string) => void lines.push(line) },
      }),
      ...options,
    });
  }

  async function newJob(): Promise<string> {
    const url = 'https://media.example.com/a.mp4';
    const asset = await createAsset(db, { customerId, mediaType: 'video', url, ttlSeconds: 600 });
    return (await db.prisma.job.findUniqueOrThrow({ where: { assetId: asset.id } })).id;
  }
  const rowOf = (id: string) => db.prisma.job.findUniqueOrThrow({ where: { id } });

  test('a job that another worker has is not worked on', async () => {
    const id = await newJob();
    await claimJob(db, id, { workerId: 'other', leaseSeconds: 60 });
    const work = jest.fn(nothing);
    expect(await (await runner()).run(id, NEVER, work)).toBeNull();
    expect(work).not.toHaveBeenCalled();
  });

  test('a failed attempt is recorded, its folder is removed, and one log line says what became of it', async () => {
    const id = await newJob();
    const ended = await (await runner()).run(id, NEVER, () => Promise.reject(new Error('disk full')));
    expect(ended?.outcome).toBe('requeued');
    expect(await rowOf(id)).toMatchObject({ status: 'queued', attempts: 1, lastErrorCode: 'internal_error' });
    expect(await readdir(join(root, 'jobs'))).toEqual([]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: 'job', job_id: id, kind: 'ingest', outcome: 'requeued', code: 'internal_error' },
    ]);
  });

  test('what was finished after the job went to somebody else counts as lost, not as completed', async () => {
    const id = await newJob();
    const ended = await (await runner()).run(id, NEVER, async () => ({ accepted: false, facts: {} }));
    expect(ended?.outcome).toBe('lost');
  });

  test('a hint makes it ask at once; work on a job that went to somebody else is stopped and not told of', async () => {
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
    expect(await rowOf(id)).toMatchObject({ status: 'running', workerId: 'other', fence: 2 });
  });

  test('a job claimed when the worker is already going away is handed back with its attempt', async () => {
    const id = await newJob();
    const gone = AbortSignal.abort();
    const ended = await (await runner()).run(id, gone, ({ signal }) => untilStopped(signal));
    expect(ended?.outcome).toBe('released');
    expect(await rowOf(id)).toMatchObject({ status: 'queued', attempts: 0 });
  });

  test('a job past its limit fails with the code of the limit', async () => {
    const id = await newJob();
    const jobs = await runner({ limit: { ms: 10, code: 'engine_timeout' } });
    const ended = await jobs.run(id, NEVER, ({ signal }) => untilStopped(signal));
    expect(ended?.outcome).toBe('failed');
    expect(await rowOf(id)).toMatchObject({ status: 'finished', lastErrorCode: 'engine_timeout' });
  });
});
