import { EgressError } from './egress-error';

/**
 * Runs `work` under a total deadline and the caller's own signal. The controller is handed over so that the work can
 * abort itself; whatever aborted it is what the promise rejects with (`timeout` for the deadline).
 */
export async function withDeadline<T>(
  deadlineMs: number,
  outer: AbortSignal | undefined,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new EgressError('timeout')), deadlineMs);
  const relay = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', relay, { once: true });
  if (outer?.aborted === true) relay();
  try {
    controller.signal.throwIfAborted();
    return await work(controller);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', relay);
  }
}
