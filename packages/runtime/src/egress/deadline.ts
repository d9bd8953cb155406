import { withController } from '../with-controller';
import { EgressError } from './egress-error';

/**
 * Runs `work` under a total deadline and the caller's own signal. `work` gets the controller, so that it can abort
 * itself. The promise rejects with whatever aborted it (`timeout` for the deadline).
 */
export function withDeadline<T>(
  deadlineMs: number,
  outer: AbortSignal | undefined,
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  const limits = { signal: outer, ms: deadlineMs, overdue: () => new EgressError('timeout') };
  return withController(limits, async (controller) => {
    try {
      controller.signal.throwIfAborted();
      return await work(controller);
    } catch (error) {
      controller.signal.throwIfAborted();
      throw error;
    }
  });
}
