import { EgressError } from './egress-error';

/**
 * Runs `work` under a total deadline and the caller's own signal. `work` gets the controller, so that it can abort
 * itself. The promise rejects with whatever aborted it (`timeout` for the deadline).
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
