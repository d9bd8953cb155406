import { type z } from 'zod';
import { loadEnv } from './env';
import { bufferedOutput, createLogger, type Logger, type LogLevel } from './logger';

/** Starts a service: opens what it needs, and registers with the lifecycle how to close it. */
export type StartService<Env> = (env: Env, logger: Logger, lifecycle: Lifecycle) => Promise<unknown>;

/** The process as a service's `main` sees it; `process` itself satisfies it. */
interface ServiceProcess extends ProcessHandle {
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

/** The parts of the process that the lifecycle needs; `process` itself satisfies it. */
interface ProcessHandle {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exit(code: number): void;
}

/** Controls how a process ends. One per `main.ts`. */
export interface Lifecycle {
  /** Aborted as soon as a shutdown begins, so that loops take no more work. */
  readonly stopping: AbortSignal;
  /**
   * Aborted during a long shutdown, some time before its deadline. Parts that still wait for others must stop waiting
   * then, so that the rest can be closed.
   */
  readonly lastCall: AbortSignal;
  /**
   * Registers a handler that closes something. Handlers run in sequence, last registered first, so that what is opened
   * during a shutdown is closed next, before what it depends on.
   */
  onShutdown(name: string, handler: () => Promise<void> | void): void;
  /** Runs the handlers once and exits: 0 after a clean stop, 1 if a handler failed or the deadline passed. */
  shutdown(reason: string, exitCode?: number): Promise<void>;
}

const DEFAULT_DEADLINE_MS = 25_000;
/** From the last call to the deadline: time to close connections and to send the last spans. */
export const LAST_CALL_MS = 7_000;

/**
 * SIGTERM and SIGINT start an orderly shutdown. A second signal ends the process at once. An unhandled error ends it
 * with code 1, after closing what can be closed. A shutdown takes at most `deadlineMs`.
 */
export function createLifecycle(options: {
  logger: Logger;
  deadlineMs?: number;
  process?: ProcessHandle;
}): Lifecycle {
  const { logger } = options;
  const handle = options.process ?? process;
  const stop = new AbortController();
  const lastCall = new AbortController();
  const handlers: { name: string; close: () => Promise<void> | void }[] = [];
  let running: Promise<void> | undefined;

  async function closeAll(exitCode: number): Promise<void> {
    let code = exitCode;
    const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const lastCallTimer = setTimeout(() => lastCall.abort(), Math.max(0, deadlineMs - LAST_CALL_MS));
    const deadlineTimer = setTimeout(() => {
      logger.error('shutdown took too long');
      handle.exit(1);
    }, deadlineMs);
    for (let next = handlers.pop(); next !== undefined; next = handlers.pop()) {
      try {
        await next.close();
      } catch (error) {
        logger.error('could not close', { part: next.name, error });
        code = 1;
      }
    }
    clearTimeout(lastCallTimer);
    clearTimeout(deadlineTimer);
    logger.info('stopped', { exit_code: code });
    handle.exit(code);
  }

  function shutdown(reason: string, exitCode = 0): Promise<void> {
    if (running === undefined) {
      logger.info('stopping', { reason });
      stop.abort();
      running = closeAll(exitCode);
    }
    return running;
  }

  for (const signal of ['SIGTERM', 'SIGINT']) {
    handle.on(signal, () => {
      if (running === undefined) void shutdown(signal);
      else handle.exit(1);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    handle.on(event, (error) => {
      logger.error(event, { error });
      void shutdown(event, 1);
    });
  }

  return {
    stopping: stop.signal,
    lastCall: lastCall.signal,
    onShutdown: (name, close) => void handlers.push({ name, close }),
    shutdown,
  };
}
