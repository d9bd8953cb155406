import { createLifecycle, createLogger, EnvError } from '@lipsync/runtime';
import { type ApiEnv, loadApiEnv } from './env';
import { startService } from './start-service';

async function run(env: ApiEnv): Promise<void> {
  const logger = createLogger({ service: 'api', level: env.LOG_LEVEL });
  const lifecycle = createLifecycle({ logger });
  try {
    await startService(env, logger, lifecycle);
  } catch (error) {
    logger.error('could not start', { error });
    await lifecycle.shutdown('could not start', 1);
  }
}

try {
  void run(loadApiEnv(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof EnvError ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
