import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { runService } from '@lipsync/runtime';
import { gpuWorkerEnvironment } from './env';
import { startWorker } from './start-worker';

void runService({
  service: 'gpu-worker',
  environment: gpuWorkerEnvironment,
  graceSeconds: (env) => env.SHUTDOWN_GRACE_SECONDS,
  start: (env, logger, lifecycle) =>
    startWorker({ env, logger, lifecycle, workerId: `${hostname()}-${randomUUID()}` }),
});
