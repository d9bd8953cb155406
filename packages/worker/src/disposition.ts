import { type ErrorCode } from '@lipsync/contract';
import { JobTimeout, LeaseLost, Preempted } from './lease-keeper';

/**
 * What to record in the database about a job that did not complete. Customers read a `detail` in place of the
 * catalogue's message if the job fails.
 */
export type JobDisposition =
  /** Record nothing: the job was cancelled, has finished or belongs to another worker. */
  | { readonly kind: 'drop' }
  /** Requeue at once; the attempt does not count. */
  | { readonly kind: 'release' }
  /** Retry. If no attempt is left, the job fails with the code. */
  | { readonly kind: 'retry'; readonly code: ErrorCode; readonly detail?: string | undefined }
  /**
   * Retry later without counting this attempt: something that every job needs is unavailable, so retrying soon would
   * use up the attempts of all waiting jobs. The record's deadline is the bound.
   */
  | { readonly kind: 'postpone'; readonly code: ErrorCode }
  /** Do not retry, because the same input would fail in the same way. */
  | { readonly kind: 'fail'; readonly code: ErrorCode; readonly detail?: string | undefined };

/**
 * Decides what follows from the end of a job. `stopped` is the abort reason of the job's own signal, if it was aborted:
 * work that was stopped or killed reports an error that means nothing in itself.
 */
export function dispositionOf(
  error: unknown,
  stopped: unknown,
  classifyError: (error: unknown) => JobDisposition,
): JobDisposition {
  if (stopped instanceof LeaseLost) return { kind: 'drop' };
  if (stopped instanceof Preempted) return { kind: 'release' };
  if (stopped instanceof JobTimeout) return { kind: 'fail', code: stopped.code };
  return classifyError(error);
}
