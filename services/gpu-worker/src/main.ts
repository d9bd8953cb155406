import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createLifecycle, createLogger, EnvError, loadEnv } from '@lipsync/runtime';
import { gpuWorkerEnvironment, type GpuWorkerEnv } from './env';
import { startWorker } from './start-worker';

/** Time to close connections after the grace for running jobs. */
const CLOSING_MS = 10_000;

async function run(env: GpuWorkerEnv): Promise<void> {
  const logger = createLogger({ service: 'gpu-worker', level: env.LOG_LEVEL });
  const graceMs = env.SHUTDOWN_GRACE_SECONDS * 1000;
  const lifecycle = createLifecycle({ logger, deadlineMs: graceMs + CLOSING_MS });
  try {
    await startWorker({ env, logger, lifecycle, workerId: `${hostname()}-${randomUUID()}` });
  } catch (error) {
    logger.error('could not start', { error });
    await lifecycle.shutdown('could not start', 1);
  }
}

try {
  void run(loadEnv(gpuWorkerEnvironment, process.env));
} catch (error) {
  process.stderr.write(`${error instanceof EnvError ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
