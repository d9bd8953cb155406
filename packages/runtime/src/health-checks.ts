import { type Logger } from './logger';

/**
 * Resolves if the dependency answers; otherwise throws or hangs. The signal is aborted when the result is no longer
 * needed.
 */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;

/** A part that has not started yet. This is expected, so the log does not treat it as a fault. */
export class NotReadyYet extends Error {
  override readonly name = 'NotReadyYet';
}

/** The name and state of every check, which may be published. The reason for a failure is only logged. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

const DEADLINE_MS = 2_000;

/**
 * Runs the checks in parallel, each under its own deadline. Never throws. Callers that ask while the checks run share
 * their result, so anybody may ask at any rate. A check that begins to fail is logged with its reason, and once more
 * when it passes again.
 */
export function createHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  { logger, deadlineMs = DEADLINE_MS }: { logger: Pick<Logger, 'info' | 'warn'>; deadlineMs?: number },
): () => Promise<HealthReport> {
  /** The level at which each failure was logged. */
  const failing = new Map<string, 'info' | 'warn'>();
  let running: Promise<HealthReport> | undefined;

  async function passes(name: string, check: HealthCheck): Promise<boolean> {
    try {
      await inTime(check, deadlineMs);
    } catch (error) {
      const level = error instanceof NotReadyYet ? 'info' : 'warn';
      if (failing.get(name) !== level) logger[level]('health check fails', { check: name, error });
      failing.set(name, level);
      return false;
    }
    if (failing.delete(name)) logger.info('health check passes again', { check: name });
    return true;
  }

  async function run(): Promise<HealthReport> {
    const states = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, (await passes(name, check)) ? 'ok' : 'failed'] as const,
      ),
    );
    return { ok: states.every(([, state]) => state === 'ok'), checks: Object.fromEntries(states) };
  }

  return () => (running ??= run().finally(() => (running = undefined)));
}

async function inTime(check: HealthCheck, deadlineMs: number): Promise<void> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    await Promise.race([Promise.resolve().then(() => check(late.signal)), deadline]);
  } finally {
    clearTimeout(timer);
    late.abort();
  }
}
