import { isTransient } from './errors';

/** Timers of more milliseconds fire at once, and a service may ask for any pause. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after this many milliseconds; rejects with the signal's reason if it is aborted before. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  const timerMs = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, timerMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Runs work under a signal that is aborted by the caller's, or with the given error when `ms` have passed since the
 * work began or last called `alive`, which may grant another time. Not AbortSignal.timeout and AbortSignal.any, which
 * garbage collection can disarm (nodejs/node#57736).
 */
export async function withDeadline<T>(
  { ms, signal, error }: { ms: number; signal: AbortSignal | undefined; error: () => Error },
  work: (signal: AbortSignal, alive: (nextMs?: number) => void) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = (nextMs = ms) => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(error()), nextMs);
  };
  if (Number.isFinite(ms)) alive();
  try {
    return await work(controller.signal, alive);
  } catch (failure) {
    // What the platform throws on an abort differs; the reason is what the caller understands.
    throw controller.signal.aborted ? controller.signal.reason : failure;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

export interface RetryPolicy {
  /** How often a failed attempt is repeated without progress in between. */
  maxRetries: number;
  /** Milliseconds after which no further attempt begins; what the last one failed with is thrown. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/**
 * Repeats an attempt while its failures are transient: after the time that the service names, else with
 * exponential backoff. Full jitter keeps callers that failed together from returning together (AWS Architecture Blog,
 * "Exponential Backoff And Jitter"). The attempt gets the milliseconds that are left, and says when it got further.
 */
export async function repeatedly<T>(
  { maxRetries, timeoutMs, signal }: RetryPolicy,
  attempt: (leftMs: number, progressed: () => void) => Promise<T>,
  mayRepeat: (error: unknown) => boolean = isTransient,
): Promise<T> {
  const startedAt = performance.now();
  let retries = 0;
  for (;;) {
    const leftMs = timeoutMs - (performance.now() - startedAt);
    try {
      return await attempt(leftMs, () => (retries = 0));
    } catch (error) {
      if (retries >= maxRetries || !mayRepeat(error)) throw error;
      const backoffMs = Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries);
      const waitMs = askedWaitMs(error) + backoffMs;
      if (performance.now() - startedAt + waitMs > timeoutMs) throw error;
      retries += 1;
      await pause(waitMs, signal);
    }
  }
}

function askedWaitMs(error: unknown): number {
  const isTold = error instanceof Error && 'retryAfterSeconds' in error;
  return isTold && typeof error.retryAfterSeconds === 'number' ? error.retryAfterSeconds * 1000 : 0;
}

/** The seconds of a Retry-After header, which holds a number of them or a date (RFC 9110, 10.2.3). */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
