import { admitJobs, createDb, type Db, type QueueName } from '@lipsync/db';
import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';
import { capacityOf, chooseAdmissions, ingestCap, type WaitingJob } from './admission-policy';
import { createRandom, type Random } from './random';

interface JobRow extends WaitingJob {
  queue: QueueName;
  status: 'queued' | 'running';
  dispatched: boolean;
}

const QUEUES = ['musetalk', 'latentsync', 'media'] as const;
const SLOTS = 3;

let database: TestDatabase;
let db: Db;
let make: Factories;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
  make = createFactories(database.url);
  await make.worker({ musetalk: SLOTS, latentsync: SLOTS, media: SLOTS });
});
afterAll(async () => {
  await make.close();
  await db.close();
  await database.drop();
});

/** Waiting, announced and running jobs of some customers over several queues, with times that often tie. */
function randomJobs(random: Random, caps: ReadonlyMap<string, number>): JobRow[] {
  const customers = [...caps.keys()];
  return Array.from({ length: 5 + Math.floor(random.uniform() * 40) }, (_, index) => ({
    id: `job-${String(index).padStart(3, '0')}`,
    customer: customers[random.pick([6, 2, 1, 1])] ?? '',
    queue: QUEUES[random.pick([3, 1, 1])] ?? 'musetalk',
    createdAt: Math.floor(random.uniform() * 10),
    availableAt: 10 + Math.floor(random.uniform() * 4),
    status: random.uniform() < 0.1 ? 'running' : 'queued',
    dispatched: random.uniform() < 0.1,
  }));
}

async function store(jobs: readonly JobRow[]): Promise<void> {
  await make.query('DELETE FROM jobs');
  for (const { id, customer, queue, createdAt, availableAt, status, dispatched } of jobs)
    await make.query(
      `INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, asset_id, status, dispatched_at, lease_until,
                         created_at, available_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
               timestamptz '2026-01-01' + $10 * interval '1 second', timestamptz '2026-01-01' + $11 * interval '1 second')`,
      [
        ...[id, queue === 'media' ? 'ingest' : 'render', queue, customer],
        ...(queue === 'media' ? [null, id] : [id, null]),
        ...[status, dispatched || status === 'running' ? new Date() : null],
        ...[status === 'running' ? new Date(Date.now() + 60_000) : null, createdAt, availableAt],
      ],
    );
}

function expected(jobs: readonly JobRow[], queue: QueueName, caps: ReadonlyMap<string, number>): string[] {
  const underWay = jobs.filter(({ status, dispatched }) => status === 'running' || dispatched);
  const waiting = new Map<string, JobRow[]>();
  const byCreation = [...jobs].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  for (const job of byCreation)
    if (job.queue === queue && !underWay.includes(job))
      waiting.set(job.customer, [...(waiting.get(job.customer) ?? []), job]);
  const count = (customer: string, counts: (job: JobRow) => boolean): number =>
    underWay.filter((job) => job.customer === customer && counts(job)).length;
  return chooseAdmissions({
    waiting,
    free: capacityOf(SLOTS) - underWay.filter((job) => job.queue === queue).length,
    here: (customer) => count(customer, (job) => job.queue === queue),
    counted: (customer) => count(customer, (job) => (job.queue === 'media') === (queue === 'media')),
    cap: (customer) => (queue === 'media' ? ingestCap(SLOTS, caps.size) : (caps.get(customer) ?? 0)),
  }).map(({ id }) => id);
}

it('chooses what the service’s own admission chooses, whatever waits and is under way', async () => {
  const random = createRandom(20);
  const caps = new Map<string, number>();
  for (const runningJobsMax of [2, 4, 1, 1000])
    caps.set(await make.customer({ runningJobsMax }), runningJobsMax);
  for (let round = 0; round < 40; round++) {
    const jobs = randomJobs(random, caps);
    await store(jobs);
    const queue = QUEUES[round % QUEUES.length] ?? 'musetalk';
    const admitted = (await admitJobs(db, queue)).map(({ jobId }) => jobId);
    expect(admitted.sort()).toEqual(expected(jobs, queue, caps).sort());
  }
});
