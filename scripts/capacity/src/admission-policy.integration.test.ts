import { admitJobs, createDb, type Db } from '@lipsync/db';
import { createFactories, createTestDatabase, type Factories, type TestDatabase } from '@lipsync/testkit';
import { createRandom, type Random } from './random';
import { MEDIA_QUEUE } from './simulation-input';
import { Counts, type SimulatedJob, WorkQueue } from './work-queue';

const QUEUES = ['musetalk', 'latentsync', MEDIA_QUEUE] as const;
const RUNNING_JOBS_MAX = 4;
const SLOTS_MAX = 16;
const ROUNDS = 40;

let database: TestDatabase;
let db: Db;
let make: Factories;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
  make = createFactories(database.url);
});
afterEach(async () => {
  await make.close();
  await db.close();
  await database.drop();
});

/** Jobs of several customers for several queues, with times that often tie. */
function randomJobs(random: Random, customers: readonly string[], round: number): SimulatedJob[] {
  return Array.from({ length: Math.floor(random.uniform() * 40) }, (_, index) => ({
    id: `job-${String(round).padStart(2, '0')}-${String(index).padStart(2, '0')}`,
    customer: customers[random.pick([6, 2, 1, 1].slice(0, customers.length))] ?? '',
    queue: QUEUES[random.pick([1, 1, 1])] ?? MEDIA_QUEUE,
    createdAt: Math.floor(random.uniform() * 10),
    availableAt: 10 + Math.floor(random.uniform() * 4),
    ...{ render: 0, serviceSeconds: 0 },
  }));
}

async function store(jobs: readonly SimulatedJob[]): Promise<void> {
  for (const { id, customer, queue, createdAt, availableAt } of jobs)
    await make.query(
      `INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, asset_id, status, created_at, available_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'queued',
               timestamptz '2026-01-01' + $7 * interval '1 second', timestamptz '2026-01-01' + $8 * interval '1 second')`,
      [
        ...[id, queue === MEDIA_QUEUE ? 'ingest' : 'render', queue, customer],
        ...(queue === MEDIA_QUEUE ? [null, id] : [id, null]),
        ...[createdAt, availableAt],
      ],
    );
}

function takeAll(queue: WorkQueue): SimulatedJob[] {
  const taken: SimulatedJob[] = [];
  for (let job = queue.take(0); job; job = queue.take(0)) taken.push(job);
  return taken;
}

const idsOf = (jobs: readonly SimulatedJob[]): string[] => jobs.map(({ id }) => id).sort();

it.each([1, 4])(
  'admits the same jobs of %i customers as the service’s own admission, for any backlog and workers',
  async (count) => {
    const random = createRandom(20);
    const customers: string[] = [];
    while (customers.length < count)
      customers.push(await make.customer({ runningJobsMax: RUNNING_JOBS_MAX }));
    const gpu = new Counts();
    const queues = QUEUES.map((name) => ({
      name,
      queue: new WorkQueue(name, gpu, new Counts(), RUNNING_JOBS_MAX, count),
      underWay: new Array<SimulatedJob>(),
    }));
    for (let round = 0; round < ROUNDS; round++) {
      const jobs = randomJobs(random, customers, round);
      await store(jobs);
      for (const { name, queue, underWay } of queues) {
        for (const job of jobs.filter((each) => each.queue === name)) queue.enqueue(job, 0);
        const slots = Math.floor(random.uniform() * (SLOTS_MAX + 1));
        await make.query('DELETE FROM workers');
        await make.worker({ [name]: slots });
        queue.admit(slots);
        const taken = takeAll(queue);
        const admitted = await admitJobs(db, name);
        expect(admitted.map(({ jobId }) => jobId).sort()).toEqual(idsOf(taken));

        underWay.push(...taken);
        const ended = underWay.splice(0, Math.floor(random.uniform() * (underWay.length + 1)));
        for (const job of ended) queue.release(job);
        await make.query('DELETE FROM jobs WHERE id = ANY($1)', [idsOf(ended)]);
        const running = underWay.filter(() => random.uniform() < 0.5);
        await make.query(
          `UPDATE jobs SET status = 'running', lease_until = now() + interval '1 hour' WHERE id = ANY($1)`,
          [idsOf(running)],
        );
      }
    }
  },
);
