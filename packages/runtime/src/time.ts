/** Wall-clock time as a dependency, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * The machine's clock, which may be set at any moment. The database's clock decides when a lease ends and what is due.
 * A worker measures the remaining time of its own lease with `performance`, which is never set.
 */
export const systemClock: Clock = { now: () => Date.now() };

interface WorkLimits {
  /** Aborts the work, with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time in milliseconds after which the work is aborted; by default none. */
  readonly ms?: number;
  /** The reason for that; by default a TimeoutError, like that of `AbortSignal.timeout`. */
  readonly overdue?: () => unknown;
}

/**
 * Runs `work` with a controller that is also aborted with a signal or after some time; the work may abort it itself.
 * Settles as the work does. `AbortSignal.any` with `AbortSignal.timeout` would not do: garbage collection may remove
 * the timeout (nodejs/node#57736), and a long-lived signal remembers everything that was derived from it
 * (nodejs/node#64476).
 */
export async function withController<T>(
  { signal, ms, overdue = timeoutError }: WorkLimits,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal?.reason);
  const timer = ms === undefined ? undefined : setTimeout(() => controller.abort(overdue()), ms);
  signal?.addEventListener('abort', follow, { once: true });
  if (signal?.aborted === true) follow();
  try {
    return await work(controller);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
  }
}

function timeoutError(): DOMException {
  return new DOMException('the time for this is over', 'TimeoutError');
}
