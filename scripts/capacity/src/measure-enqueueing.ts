import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDb, enqueueJobs, migrate } from '@lipsync/db';
import { quantile } from '@lipsync/local-stack';
import { erasePostgres, startPostgres } from '@lipsync/testkit';
import { Client } from 'pg';

interface EnqueueingCost {
  readonly waiting: number;
  readonly ended: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
}

const CUSTOMERS = 500;
const ROUNDS = 100;
/** Uncounted rounds at the beginning, while statements are prepared and code is compiled. */
const WARM_UP = 20;
const ENDED = 100_000;
/** The most jobs that one round may enqueue. */
const SLOTS = 4;

/**
 * The cost of one round of enqueueing for one queue, by the length of its backlog. Only one round runs at a time in the
 * whole system (an advisory lock), so its duration limits how many jobs can be enqueued per second.
 */
export async function measureEnqueueing(backlogs: readonly number[]): Promise<EnqueueingCost[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lipsync-enqueueing-'));
  const postgresDir = path.join(folder, 'postgres');
  const server = await startPostgres({ dataDir: postgresDir });
  const client = new Client({ connectionString: server.url });
  const db = createDb({ url: server.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
  try {
    await migrate(server.url);
    await client.connect();
    await client.query(
      `INSERT INTO customers (id, name) SELECT 'cus_' || i, 'customer ' || i FROM generate_series(1, $1::int) AS i`,
      [CUSTOMERS],
    );
    await client.query(
      `INSERT INTO workers (id, service, slots) VALUES ('worker', 'bench', jsonb_build_object('musetalk', $1::int))`,
      [SLOTS],
    );
    const costs: EnqueueingCost[] = [];
    for (const waiting of [...backlogs].sort((a, b) => a - b)) costs.push(await costOf(waiting));
    return costs;

    async function costOf(waiting: number): Promise<EnqueueingCost> {
      // Many more have ended and are still stored, as after some days of operation.
      const ended = Math.max(ENDED, waiting * 10);
      await client.query('TRUNCATE jobs');
      await client.query(
        `INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, status, created_at)
         SELECT 'job_' || i, 'render', 'musetalk', 'cus_' || (1 + i % $3::int), 'run_' || i,
           CASE WHEN i <= $1::int THEN 'queued' ELSE 'finished' END, now() - i * interval '1 millisecond'
         FROM generate_series(1, $1::int + $2::int) AS i`,
        [waiting, ended, CUSTOMERS],
      );
      // Do the maintenance that the insertion leaves behind now, so that it does not run during the timed rounds.
      await client.query('VACUUM (ANALYZE) jobs');
      await client.query('CHECKPOINT');
      const times: number[] = [];
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        await client.query(`UPDATE workers SET seen_at = now()`);
        const startedAt = performance.now();
        await enqueueJobs(db, 'musetalk');
        if (round >= 0) times.push(performance.now() - startedAt);
        await client.query(
          `UPDATE jobs SET enqueued_at = NULL WHERE status = 'queued' AND enqueued_at IS NOT NULL`,
        );
      }
      return { waiting, ended, p50_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) };
    }
  } finally {
    await client.end();
    await db.close();
    await server.stop();
    erasePostgres(postgresDir);
    rmSync(folder, { recursive: true, force: true });
  }
}
