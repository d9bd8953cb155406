import { type z } from 'zod';
import { createLifecycle, type Lifecycle, type ProcessHandle } from './lifecycle';
import { loadEnv } from './load-env';
import { bufferedOutput, createLogger, type Logger, type LogLevel } from './logger';

/** Starts a service: opens what it needs, and registers with the lifecycle how to close it. */
export type StartService<Env> = (env: Env, logger: Logger, lifecycle: Lifecycle) => Promise<unknown>;

/** The process as a service's `main` sees it; `process` itself satisfies it. */
export interface ServiceProcess extends ProcessHandle {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderr: { write(text: string): unknown };
}

/** Time to close connections after the grace period of the work under way. */
const CLOSING_MS = 10_000;

/**
 * The whole of a service's `main.ts`: reads the settings, then starts the service with a lifecycle of its own. Invalid
 * settings are reported on standard error. A failed start is logged, and what it had opened is closed. In both cases
 * the process ends with 1.
 */
export async function runService<Schema extends z.ZodType<{ LOG_LEVEL: LogLevel }>>(options: {
  service: string;
  environment: Schema;
  start: StartService<z.output<Schema>>;
  /** How long work under way may continue after a signal. By default a shutdown has the lifecycle's own deadline. */
  graceSeconds?: (env: z.output<Schema>) => number;
  process?: ServiceProcess;
}): Promise<void> {
  const handle = options.process ?? process;
  let env: z.output<Schema>;
  try {
    env = loadEnv(options.environment, handle.env);
  } catch (error) {
    handle.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return handle.exit(1);
  }
  const logger = createLogger({
    service: options.service,
    level: env.LOG_LEVEL,
    destination: bufferedOutput(),
  });
  const lifecycle = createLifecycle({
    logger,
    process: handle,
    ...(options.graceSeconds === undefined
      ? {}
      : { deadlineMs: options.graceSeconds(env) * 1000 + CLOSING_MS }),
  });
  try {
    await options.start(env, logger, lifecycle);
  } catch (error) {
    logger.error('could not start', { error });
    await lifecycle.shutdown('could not start', 1);
  }
}
