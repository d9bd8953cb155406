import { MediaError, MediaProcessError } from '@lipsync/media';
import { StorageError } from '@lipsync/storage';
import {
  classifyIngestError,
  downloadFailureCode,
  downloadFailureDetail,
  IngestFailure,
} from './ingest-failure';

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
        kind: 'retry',
        code: 'media_unsupported',
        detail: 'Decoding takes too long; use a smaller or shorter file.',
      },
    ],
    ['the unexpected is tried again', new Error('disk full'), { kind: 'retry', code: 'internal_error' }],
  ])('%s', (_name, error, disposition) => {
    expect(classifyIngestError(error)).toEqual(disposition);
  });
});

describe('the error code of a failed download', () => {
  it.each([
    [401, 'media_not_accessible'],
    [403, 'media_not_accessible'],
    [404, 'media_not_accessible'],
    [410, 'media_not_accessible'],
    [204, 'media_not_accessible'],
    [408, 'media_download_failed'],
    [429, 'media_download_failed'],
    [500, 'media_download_failed'],
    [503, 'media_download_failed'],
  ])('status %d is %s', (status, code) => {
    expect(downloadFailureCode({ reason: 'http_status', status })).toBe(code);
  });

  it.each([
    ['dns_error', 'media_download_failed'],
    ['connection_failed', 'media_download_failed'],
    ['tls_error', 'media_download_failed'],
    ['timeout', 'media_download_failed'],
    ['no_answer', 'media_download_failed'],
    ['too_slow', 'media_download_failed'],
    ['address_not_allowed', 'media_url_not_allowed'],
    ['redirect', 'media_url_not_allowed'],
    ['too_large', 'media_too_large'],
  ] as const)('%s is %s', (reason, code) => {
    expect(downloadFailureCode({ reason })).toBe(code);
  });
});

it('the detail of a failed download names the limit that it exceeded, and nothing about the network otherwise', () => {
  const limits = { total: 180, firstByte: 15 };
  expect(downloadFailureDetail({ reason: 'no_answer' }, limits)).toContain('15 to send the first byte');
  expect(downloadFailureDetail({ reason: 'too_slow' }, limits)).toContain('64 KiB per second for 15 seconds');
  expect(downloadFailureDetail({ reason: 'timeout' }, limits)).toContain('within 180 seconds');
  for (const reason of ['dns_error', 'connection_failed', 'tls_error'] as const)
    expect(downloadFailureDetail({ reason }, limits)).toBeUndefined();
});
