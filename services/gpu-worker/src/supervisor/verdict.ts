import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { JobTimeout, Preempted, StorageFailed } from './job-errors';
import { LeaseLost } from './lease-keeper';

/** What to tell the database about a job that did not complete. */
export type Verdict =
  /** Nothing: the job was cancelled, has finished or belongs to another worker. */
  | { readonly kind: 'drop' }
  /** Queued again at once; the attempt does not count. */
  | { readonly kind: 'release' }
  /** Another attempt, unless they are used up: then the code is the result. */
  | { readonly kind: 'retry'; readonly code: ErrorCode }
  /** The same input would fail the same way. */
  | { readonly kind: 'fail'; readonly code: ErrorCode };

/**
 * Judges why a job ended. `stopped` is the reason that the job's own signal was aborted with, if it was: a child that
 * was told to stop, or killed, reports an error that means nothing in itself.
 */
export function verdict(error: unknown, stopped: unknown): Verdict {
  if (stopped instanceof LeaseLost) return { kind: 'drop' };
  if (stopped instanceof Preempted) return { kind: 'release' };
  if (stopped instanceof JobTimeout) return { kind: 'fail', code: 'engine_timeout' };
  if (error instanceof StorageFailed) return { kind: 'retry', code: 'storage_failed' };
  if (error instanceof InferenceCrash) return { kind: 'retry', code: crashCode(error) };
  if (error instanceof InferenceFailure) return failureVerdict(error);
  return { kind: 'retry', code: 'internal_error' };
}

function failureVerdict({ code }: InferenceFailure): Verdict {
  // Nobody asked for a cancel that would be ours to report (those are handled above): try again.
  if (code === 'cancelled') return { kind: 'retry', code: 'engine_failed' };
  return ERROR_CATALOGUE[code].retryable ? { kind: 'retry', code } : { kind: 'fail', code };
}

/** SIGKILL comes from outside (an operator, the kernel when memory runs out); anything else is the child's own doing. */
function crashCode({ exit }: InferenceCrash): ErrorCode {
  return exit.signal === 'SIGKILL' ? 'worker_lost' : 'engine_failed';
}
