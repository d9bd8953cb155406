import { MediaError, MediaProcessError } from '@lipsync/media';
import { StorageError } from '@lipsync/storage';
import { classifyIngestError } from './ingest-blame';
import { IngestFailure } from './ingest-failure';

describe('the classification of an ingest error', () => {
  it.each([
    ['bad bytes fail for good', new MediaError('media_corrupt', ''), { kind: 'fail', code: 'media_corrupt' }],
    [
      'a forbidden address fails for good',
      new IngestFailure('media_url_not_allowed', ''),
      { kind: 'fail', code: 'media_url_not_allowed' },
    ],
    [
      'an unreachable origin is tried again',
      new IngestFailure('media_download_failed', ''),
      { kind: 'retry', code: 'media_download_failed' },
    ],
    [
      'a storage outage costs no attempt: every asset would use up its own',
      new StorageError('unavailable', 'ping'),
      { kind: 'postpone', code: 'storage_failed' },
    ],
    [
      'a store that refuses to be looked at costs none: it refuses this worker, and lets in others',
      new StorageError('rejected', 'ping'),
      { kind: 'postpone', code: 'storage_failed' },
    ],
    [
      'what was fetched and could not be stored costs one: fetching it again and again is not free',
      new StorageError('unavailable', 'put'),
      { kind: 'retry', code: 'storage_failed' },
    ],
    [
      'what the store refuses is tried again',
      new StorageError('rejected', 'put'),
      { kind: 'retry', code: 'storage_failed' },
    ],
    [
      'a decoder out of time is tried again before the file is given up',
      new MediaProcessError('deadline', ''),
      {
        ...{ kind: 'retry', code: 'media_unsupported' },
        detail: 'Decoding takes too long; use a smaller or shorter file.',
      },
    ],
    ['the unexpected is tried again', new Error('disk full'), { kind: 'retry', code: 'internal_error' }],
  ])('%s', (_name, error, disposition) => {
    expect(classifyIngestError(error)).toEqual(disposition);
  });
});
