import { type Logger } from './logger';

/** The parts of the process that the lifecycle needs; `process` itself satisfies it. */
export interface ProcessHandle {
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
