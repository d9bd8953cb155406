import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { isMediaError, MediaProcessError } from '@lipsync/media';
import { StorageError } from '@lipsync/storage';
import { IngestFailure, Preempted } from './ingest-failure';
import { LeaseLost } from './job-lease';

/** What to tell the database about an ingest that did not complete. */
export type IngestVerdict =
  /** Nothing: the job has finished or belongs to another worker. */
  | { readonly kind: 'drop' }
  /** Queued again at once; the attempt does not count. */
  | { readonly kind: 'release' }
  /** Another attempt, unless they are used up: then the code is the result. */
  | { readonly kind: 'retry'; readonly code: ErrorCode }
  /** The same bytes or the same address would fail the same way. */
  | { readonly kind: 'fail'; readonly code: ErrorCode };

/** Judges why an ingest ended. `stopped` is the reason that its own signal was aborted with, if it was. */
export function ingestVerdict(error: unknown, stopped: unknown): IngestVerdict {
  if (stopped instanceof LeaseLost) return { kind: 'drop' };
  if (stopped instanceof Preempted) return { kind: 'release' };
  if (isMediaError(error)) return { kind: 'fail', code: error.code };
  if (error instanceof IngestFailure) {
    return { kind: ERROR_CATALOGUE[error.code].retryable ? 'retry' : 'fail', code: error.code };
  }
  if (error instanceof StorageError) return { kind: 'retry', code: 'storage_failed' };
  // A file that no decoder gets through in time is too expensive; once may have been a busy machine.
  if (error instanceof MediaProcessError && error.reason === 'deadline') {
    return { kind: 'retry', code: 'media_unsupported' };
  }
  return { kind: 'retry', code: 'internal_error' };
}
