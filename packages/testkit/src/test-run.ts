import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { erasePostgres, stopPostgres } from './servers/postgres-server';
import { isAlive } from './servers/processes';
import { stopRedis } from './servers/redis-server';

/** Environment variables that announce a test run's servers to its workers, which inherit the environment. */
export const POSTGRES_VARIABLE = 'LIPSYNC_TEST_POSTGRES_URL';
export const REDIS_VARIABLE = 'LIPSYNC_TEST_REDIS_URL';

const parent = (): string => join(tmpdir(), `lipsync-tests-${userInfo().uid}`);

/** Creates this run's own directory, named after the process that owns it, so that concurrent runs do not collide. */
export function createRunDirectory(): string {
  const directory = join(parent(), `run-${process.pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  return directory;
}

/** Stops the run's servers and deletes their files. */
export async function disposeRun(directory: string): Promise<void> {
  const postgres = join(directory, 'postgres');
  await Promise.all([stopPostgres(postgres), stopRedis(join(directory, 'redis'))]);
  erasePostgres(postgres);
  rmSync(directory, { recursive: true, force: true });
}

/** Cleans up after runs that were killed before they could. */
export async function disposeAbandonedRuns(): Promise<void> {
  mkdirSync(parent(), { recursive: true, mode: 0o755 });
  const abandoned = readdirSync(parent()).filter(
    (name) => !isAlive(Number(/^run-(\d+)$/.exec(name)?.[1] ?? 0)),
  );
  for (const name of abandoned) await disposeRun(join(parent(), name));
}

/**
 * The Redis that the test run shares. Use it with `testPrefix()`. Tests that stop Redis start their own with
 * startRedis.
 */
export function testRedisUrl(): string {
  const url = process.env[REDIS_VARIABLE];
  if (url === undefined) throw new Error('no Redis: is this an integration test?');
  return url;
}

/** A name that no other test uses. */
export function testPrefix(): string {
  return `test-${randomBytes(8).toString('hex')}`;
}
