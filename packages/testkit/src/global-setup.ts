// Runs before module mapping applies, so only relative imports and installed packages work here.
import { join } from 'node:path';
import { startPostgres } from './servers/postgres-server';
import { startRedis } from './servers/redis-server';
import { createRunDirectory, disposeAbandonedRuns, POSTGRES_VARIABLE, REDIS_VARIABLE } from './test-run';

/** Starts one Postgres and one Redis per test run. Skips either if its variable already names a server. */
export default async function globalSetup(): Promise<void> {
  await disposeAbandonedRuns();
  const directory = createRunDirectory();
  const [postgres, redis] = await Promise.all([
    process.env[POSTGRES_VARIABLE] ?? startPostgres({ dataDir: join(directory, 'postgres'), durable: false }),
    process.env[REDIS_VARIABLE] ?? startRedis({ dataDir: join(directory, 'redis') }),
  ]);
  process.env[POSTGRES_VARIABLE] = typeof postgres === 'string' ? postgres : postgres.url;
  process.env[REDIS_VARIABLE] = typeof redis === 'string' ? redis : redis.url;
}
