import { MediaError, MediaProcessError } from '@lipsync/media';
import { StorageError } from '@lipsync/storage';
import { IngestFailure, Preempted } from './ingest-failure';
import { ingestVerdict } from './ingest-verdict';
import { LeaseLost } from './job-lease';

describe('what an unfinished ingest means', () => {
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
      'a storage outage is tried again',
      new StorageError('unavailable', 'put'),
      { kind: 'retry', code: 'storage_failed' },
    ],
    [
      'a decoder out of time is tried again before the file is given up',
      new MediaProcessError('deadline', ''),
      { kind: 'retry', code: 'media_unsupported' },
    ],
    ['the unexpected is tried again', new Error('disk full'), { kind: 'retry', code: 'internal_error' }],
  ])('%s', (_name, error, verdict) => {
    expect(ingestVerdict(error, undefined)).toEqual(verdict);
  });

  it('says nothing about a job that is no longer ours, whatever went wrong meanwhile', () => {
    expect(ingestVerdict(new MediaError('media_corrupt', ''), new LeaseLost())).toEqual({ kind: 'drop' });
  });

  it('hands a job back when the process goes away, without blaming it', () => {
    expect(ingestVerdict(new MediaProcessError('stopped', ''), new Preempted())).toEqual({ kind: 'release' });
  });
});
