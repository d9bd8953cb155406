import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { runService } from '@lipsync/runtime';
import { mediaWorkerEnvironment } from './env';
import { startMediaWorker } from './start-media-worker';

void runService({
  service: 'media-worker',
  environment: mediaWorkerEnvironment,
  graceSeconds: (env) => env.SHUTDOWN_GRACE_SECONDS,
  start: (env, logger, lifecycle) =>
    startMediaWorker({ env, logger, lifecycle, workerId: `${hostname()}-${randomUUID()}` }),
});
