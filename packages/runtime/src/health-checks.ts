import { type Logger } from './logger';

/** Resolves when the dependency answers; throws or hangs when it does not. */
export type HealthCheck = () => Promise<unknown>;

/** The name and state of every check: what may be shown; the reason of a failure is for the log. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

const DEADLINE_MS = 2_000;

/**
 * Runs the checks side by side, each under its own deadline; never throws. A check that begins to fail is logged with its
 * reason, and once more when it passes again: probes that ask every few seconds add nothing to that.
 */
export function createHealthChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  { logger, deadlineMs = DEADLINE_MS }: { logger: Pick<Logger, 'info' | 'warn'>; deadlineMs?: number },
): () => Promise<HealthReport> {
  const failing = new Set<string>();

  async function passes(name: string, check: HealthCheck): Promise<boolean> {
    try {
      await inTime(check, deadlineMs);
    } catch (error) {
      if (!failing.has(name)) logger.warn('health check fails', { check: name, error });
      failing.add(name);
      return false;
    }
    if (failing.delete(name)) logger.info('health check passes again', { check: name });
    return true;
  }

  return async () => {
    const states = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]) => [name, (await passes(name, check)) ? 'ok' : 'failed'] as const,
      ),
    );
    return { ok: states.every(([, state]) => state === 'ok'), checks: Object.fromEntries(states) };
  };
}

async function inTime(check: HealthCheck, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    await Promise.race([Promise.resolve().then(check), late]);
  } finally {
    clearTimeout(timer);
  }
}
