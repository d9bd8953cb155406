import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createLifecycle, createLogger, EnvError } from '@lipsync/runtime';
import { loadMediaWorkerEnv, type MediaWorkerEnv } from './env';
import { startMediaWorker } from './start-media-worker';

/** Time to close connections after the grace for running ingests. */
const CLOSING_MS = 10_000;

async function run(env: MediaWorkerEnv): Promise<void> {
  const logger = createLogger({ service: 'media-worker', level: env.LOG_LEVEL });
  const lifecycle = createLifecycle({ logger, deadlineMs: env.SHUTDOWN_GRACE_SECONDS * 1000 + CLOSING_MS });
  try {
    await startMediaWorker({ env, logger, lifecycle, workerId: `${hostname()}-${randomUUID()}` });
  } catch (error) {
    logger.error('could not start', { error });
    await lifecycle.shutdown('could not start', 1);
  }
}

try {
  void run(loadMediaWorkerEnv(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof EnvError ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
