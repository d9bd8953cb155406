import { isMediaError, MediaProcessError } from '@lipsync/media';
import { isStorageAwayAtFirst, StorageError } from '@lipsync/storage';
import { type JobDisposition } from '@lipsync/worker';
import { IngestFailure } from './ingest-failure';

/** Classifies an error of an ingest that was not stopped. */
export function classifyIngestError(error: unknown): JobDisposition {
  if (isMediaError(error)) return { kind: 'fail', code: error.code, detail: error.detail };
  if (error instanceof IngestFailure) {
    const { code, detail, isFinal } = error;
    return { kind: isFinal ? 'fail' : 'retry', code, detail };
  }
  if (isStorageAwayAtFirst(error)) return { kind: 'postpone', code: 'storage_failed' };
  if (error instanceof StorageError) return { kind: 'retry', code: 'storage_failed' };
  // A file that no decoder finishes in time is too expensive; a single timeout may have been due to a busy machine.
  if (error instanceof MediaProcessError && error.reason === 'deadline') {
    return {
      kind: 'retry',
      code: 'media_unsupported',
      detail: 'Decoding takes too long; use a smaller or shorter file.',
    };
  }
  return { kind: 'retry', code: 'internal_error' };
}
