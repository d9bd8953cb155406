import { openScenario, type Scenario } from '../../test/scenario';
import { completeRender } from '../jobs/complete';
import { releaseJob } from '../jobs/fail';
import { reconcile } from '../maintenance/reconcile';
import { createDb } from '../postgres/db';
import { enqueueJobs, type JobMessage, undoEnqueue } from './enqueue';
import { QUEUE_NAMES, type QueueName } from './queues';

const result = { outputKey: 'outputs/run/1/video.mp4', usage: {} };

describe('enqueueJobs', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(async () => {
    await scenario.empty();
    await scenario.make.query('DELETE FROM workers');
  });
  afterAll(() => scenario.close());

  /** Queued render jobs of a new customer, inserted in bulk. */
  async function backlog(
    jobs: number,
    queue: QueueName = 'musetalk',
    runningJobsMax = 1000,
  ): Promise<string> {
    const customerId = await scenario.make.customer({ runningJobsMax });
    await scenario.make.query(
      `INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, status, created_at)
       SELECT $1 || '-' || $2 || '-' || i, 'render', $2, $1, $1 || $2 || i, 'queued', now() - interval '1 hour' + i * interval '1 second'
       FROM generate_series(1, $3::int) AS i`,
      [customerId, queue, jobs],
    );
    return customerId;
  }

  /** Queued ingests of a new customer. */
  async function ingests(jobs: number): Promise<string> {
    const customerId = await scenario.make.customer();
    await scenario.make.query(
      `INSERT INTO jobs (id, kind, queue, customer_id, asset_id, status)
       SELECT $1 || '-' || i, 'ingest', 'media', $1, $1 || i, 'queued' FROM generate_series(1, $2::int) AS i`,
      [customerId, jobs],
    );
    return customerId;
  }

  async function ownersOf(messages: readonly JobMessage[]): Promise<Record<string, number>> {
    const ids = messages.map(({ jobId }) => jobId);
    const rows = await scenario.make.query<{ owner: string }>(
      'SELECT customer_id AS owner FROM jobs WHERE id = ANY($1)',
      [ids],
    );
    const owners: Record<string, number> = {};
    for (const { owner } of rows) owners[owner] = (owners[owner] ?? 0) + 1;
    return owners;
  }

  it('enqueues nothing without a worker, and one and a half jobs per slot with them', async () => {
    await backlog(100);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
    await scenario.make.worker({ musetalk: 3, latentsync: 10 });
    await scenario.make.worker({ musetalk: 2 });
    expect(await enqueueJobs(scenario.db, 'musetalk')).toHaveLength(8);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
  });

  it('does not count workers that have gone silent', async () => {
    await backlog(10);
    await scenario.make.worker({ musetalk: 4 });
    await scenario.make.query(`UPDATE workers SET seen_at = now() - interval '31 seconds'`);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
  });

  it('enqueues for a customer with one job in its first round, despite a thousand earlier jobs of another customer', async () => {
    const big = await backlog(1000);
    const small = await backlog(1);
    await scenario.make.worker({ musetalk: 2 });
    const owners = await ownersOf(await enqueueJobs(scenario.db, 'musetalk'));
    expect(owners).toEqual({ [big]: 2, [small]: 1 });
  });

  it('serves a late customer before it enqueues more jobs of those that already have some under way', async () => {
    const early = await backlog(50);
    await scenario.make.worker({ musetalk: 2 });
    await enqueueJobs(scenario.db, 'musetalk');
    const late = await backlog(50);
    await scenario.make.worker({ musetalk: 2 });
    const owners = await ownersOf(await enqueueJobs(scenario.db, 'musetalk'));
    expect(owners).toEqual({ [late]: 3 });
    expect(owners[early]).toBeUndefined();
  });

  it('shares slots evenly among many customers', async () => {
    const customers = [await backlog(30), await backlog(5), await backlog(300)];
    await scenario.make.worker({ musetalk: 6 });
    const owners = await ownersOf(await enqueueJobs(scenario.db, 'musetalk'));
    expect(owners).toEqual(Object.fromEntries(customers.map((customer) => [customer, 3])));
  });

  it("limits a customer's running jobs over all engines, and goes on when one ends", async () => {
    await scenario.make.worker({ musetalk: 10, latentsync: 10 });
    const customerId = await scenario.make.customer({ runningJobsMax: 2 });
    for (let i = 0; i < 3; i += 1) await scenario.render({ engines: ['musetalk', 'latentsync'] }, customerId);
    const enqueued = [
      ...(await enqueueJobs(scenario.db, 'musetalk')),
      ...(await enqueueJobs(scenario.db, 'latentsync')),
    ];
    expect(enqueued).toHaveLength(2);
    expect(await enqueueJobs(scenario.db, 'latentsync')).toEqual([]);
    const claim = await scenario.claim(enqueued[0]?.jobId ?? '');
    await completeRender(scenario.db, claim, result);
    expect(await enqueueJobs(scenario.db, 'latentsync')).toHaveLength(1);
  });

  it('enqueues no job twice and never too many under concurrent callers', async () => {
    await backlog(100, 'musetalk');
    await scenario.make.worker({ musetalk: 8 });
    const rounds = await Promise.all(Array.from({ length: 6 }, () => enqueueJobs(scenario.db, 'musetalk')));
    const ids = rounds.flat().map(({ jobId }) => jobId);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
  });

  it('does not exhaust the pool while another enqueueing hangs, and enqueues once it has ended', async () => {
    await backlog(1);
    await scenario.make.worker({ musetalk: 1 });
    const other = createDb({
      url: scenario.database.url,
      poolMax: 1,
      publicBaseUrl: 'https://api.example.com',
    });
    // Like a process that is cut off before it commits.
    await other.prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT pg_advisory_xact_lock(727002)::text`;
        const everyConnection = Array.from({ length: 10 }, (_, i) => QUEUE_NAMES[i % QUEUE_NAMES.length]);
        const asked = everyConnection.map((queue = 'media') => enqueueJobs(scenario.db, queue));
        await scenario.db.ping();
        expect((await Promise.all(asked)).flat()).toEqual([]);
      },
      { timeout: 30_000 },
    );
    await other.close();
    expect(await enqueueJobs(scenario.db, 'musetalk')).toHaveLength(1);
  });

  it('leaves a slot for the next customer, however many files one customer wants to ingest', async () => {
    const big = await ingests(100);
    await scenario.make.worker({ media: 4 });
    expect(await ownersOf(await enqueueJobs(scenario.db, 'media'))).toEqual({ [big]: 3 });
    expect(await enqueueJobs(scenario.db, 'media')).toEqual([]);
    const late = await ingests(100);
    expect(await ownersOf(await enqueueJobs(scenario.db, 'media'))).toEqual({ [late]: 3 });
  });

  it('keeps no slot free for others if there is only one customer', async () => {
    await ingests(100);
    await scenario.make.query(`DELETE FROM customers WHERE id NOT IN (SELECT customer_id FROM jobs)`);
    await scenario.make.worker({ media: 4 });
    expect(await enqueueJobs(scenario.db, 'media')).toHaveLength(6);
  });

  it('goes on with the other jobs while the next one is locked elsewhere', async () => {
    const customer = await backlog(3);
    await scenario.make.worker({ musetalk: 2 });
    const enqueued = await scenario.db.prisma.$transaction(async (holder) => {
      await holder.$queryRaw`SELECT FROM jobs WHERE id = ${`${customer}-musetalk-1`} FOR UPDATE`;
      return enqueueJobs(scenario.db, 'musetalk');
    });
    expect(enqueued.map(({ jobId }) => jobId).sort()).toEqual([
      `${customer}-musetalk-2`,
      `${customer}-musetalk-3`,
    ]);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toHaveLength(1);
  });

  it('does not enqueue a job before it is due', async () => {
    await backlog(1);
    await scenario.make.worker({ musetalk: 1 });
    await scenario.make.query(`UPDATE jobs SET available_at = now() + interval '1 minute'`);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
  });

  it('enqueues a job again that its worker handed back, without waiting for a reconciliation', async () => {
    await scenario.make.worker({ musetalk: 1 });
    await scenario.render();
    const [first] = await enqueueJobs(scenario.db, 'musetalk');
    const jobId = first?.jobId ?? '';
    expect(await releaseJob(scenario.db, await scenario.claim(jobId))).toBe(true);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([{ jobId, enqueueSeq: 2 }]);
    // Whoever looked before finds only the first message missing from Redis.
    expect(await undoEnqueue(scenario.db, { queue: 'musetalk', jobId, enqueueSeq: 1 })).toBe(false);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
  });

  it('does not count the ingests of a customer as jobs on a GPU', async () => {
    await scenario.make.worker({ musetalk: 4, media: 4 });
    const customerId = await backlog(1, 'musetalk', 1);
    await scenario.make.query(
      `INSERT INTO jobs (id, kind, queue, customer_id, asset_id, status) VALUES ($1, 'ingest', 'media', $2, $1, 'queued')`,
      ['ingest', customerId],
    );
    expect(await enqueueJobs(scenario.db, 'media')).toHaveLength(1);
    expect(await enqueueJobs(scenario.db, 'musetalk')).toHaveLength(1);
  });

  it('enqueues a job again under a new number if Redis has lost it, once the loss is certain', async () => {
    await backlog(3);
    await scenario.make.worker({ musetalk: 2 });
    const first = await enqueueJobs(scenario.db, 'musetalk');
    const forgetful = { isInQueue: async () => false, unservedSeconds: 1800 };
    expect((await reconcile(scenario.db, forgetful)).forgotten).toBe(0);
    await scenario.make.query(`UPDATE jobs SET enqueued_at = enqueued_at - interval '10 seconds'`);
    expect(
      (await reconcile(scenario.db, { isInQueue: async () => true, unservedSeconds: 1800 })).forgotten,
    ).toBe(0);
    const running = await scenario.db.prisma.job.updateManyAndReturn({
      where: { id: first[0]?.jobId ?? '' },
      data: { status: 'running', leaseUntil: new Date(Date.now() + 60_000), fence: 1, attempts: 1 },
    });
    expect(running).toHaveLength(1);
    expect((await reconcile(scenario.db, forgetful)).forgotten).toBe(2);
    const again = await enqueueJobs(scenario.db, 'musetalk');
    expect(new Map(again.map(({ jobId, enqueueSeq }) => [jobId, enqueueSeq]))).toEqual(
      new Map(first.slice(1).map(({ jobId }) => [jobId, 2])),
    );
  });

  it('assumes no loss while Redis is unavailable', async () => {
    await backlog(2);
    await scenario.make.worker({ musetalk: 2 });
    await enqueueJobs(scenario.db, 'musetalk');
    await scenario.make.query(`UPDATE jobs SET enqueued_at = enqueued_at - interval '10 seconds'`);
    const report = await reconcile(scenario.db, {
      isInQueue: () => Promise.reject(new Error('redis is away')),
      unservedSeconds: 1800,
    });
    expect(report).toMatchObject({ forgotten: 0, errors: [new Error('redis is away')] });
    expect(await enqueueJobs(scenario.db, 'musetalk')).toEqual([]);
  });
});
