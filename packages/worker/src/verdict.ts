import { type ErrorCode } from '@lipsync/contract';
import { JobTimeout, Preempted } from './job-stop';
import { LeaseLost } from './lease-keeper';

/** What to tell the database about a job that did not complete. */
export type Verdict =
  /** Nothing: the job was cancelled, has finished or belongs to another worker. */
  | { readonly kind: 'drop' }
  /** Queued again at once; the attempt does not count. */
  | { readonly kind: 'release' }
  | Blame;

/** What an error says about the job itself. */
export type Blame =
  /** Another attempt, unless they are used up: then the code is the result. */
  | { readonly kind: 'retry'; readonly code: ErrorCode }
  /**
   * Another attempt later, and this one does not count: something is away that every job needs, so trying again soon would
   * use up the attempts of all that wait. The record's deadline is the bound.
   */
  | { readonly kind: 'postpone'; readonly code: ErrorCode }
  /** The same input would fail the same way. */
  | { readonly kind: 'fail'; readonly code: ErrorCode };

/**
 * Judges why a job ended. `stopped` is the reason that the job's own signal was aborted with, if it was: work that was
 * told to stop, or killed, reports an error that means nothing in itself. Any other error is for `blame` to judge.
 */
export function verdictOf(error: unknown, stopped: unknown, blame: (error: unknown) => Blame): Verdict {
  if (stopped instanceof LeaseLost) return { kind: 'drop' };
  if (stopped instanceof Preempted) return { kind: 'release' };
  if (stopped instanceof JobTimeout) return { kind: 'fail', code: stopped.code };
  return blame(error);
}
