import { ERROR_CATALOGUE } from '@lipsync/contract';
import { isMediaError, MediaProcessError } from '@lipsync/media';
import { isStorageAwayAtFirst, StorageError } from '@lipsync/storage';
import { type Blame } from '@lipsync/worker';
import { IngestFailure } from './ingest-failure';

/** Judges an error of an ingest that nobody stopped. */
export function ingestBlame(error: unknown): Blame {
  if (isMediaError(error)) return { kind: 'fail', code: error.code };
  if (error instanceof IngestFailure) {
    return { kind: ERROR_CATALOGUE[error.code].retryable ? 'retry' : 'fail', code: error.code };
  }
  if (isStorageAwayAtFirst(error)) return { kind: 'postpone', code: 'storage_failed' };
  if (error instanceof StorageError) return { kind: 'retry', code: 'storage_failed' };
  // A file that no decoder gets through in time is too expensive; once may have been a busy machine.
  if (error instanceof MediaProcessError && error.reason === 'deadline') {
    return { kind: 'retry', code: 'media_unsupported' };
  }
  return { kind: 'retry', code: 'internal_error' };
}
