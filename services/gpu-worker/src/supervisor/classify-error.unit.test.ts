import { type ErrorCode } from '@lipsync/contract';
import { StorageError } from '@lipsync/storage';
import { type JobDisposition } from '@lipsync/worker';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { classifyError } from './classify-error';
import { StorageFailed, transferring } from './gpu-job';

const KILLED = { code: null, signal: 'SIGKILL' } as const;
const storeFailed = (cause: Error) => new StorageFailed('', { cause });

test.each<[string, Error, JobDisposition['kind'], ErrorCode]>([
  ['a child killed from outside is retried', new InferenceCrash(KILLED, ''), 'retry', 'worker_lost'],
  [
    'a child that crashed is retried as an engine failure',
    new InferenceCrash({ code: 134, signal: null }, ''),
    'retry',
    'engine_failed',
  ],
  [
    'a child that hung is retried as an engine failure: nobody else ended it',
    new InferenceCrash(KILLED, '', { hung: true }),
    'retry',
    'engine_failed',
  ],
  [
    'a child that ended because memory ran out is retried as such',
    new InferenceCrash({ code: null, signal: 'SIGABRT' }, "instance of 'std::bad_alloc'"),
    'retry',
    'engine_out_of_memory',
  ],
  [
    'a cancel that nobody asked for is retried as an engine failure',
    new InferenceFailure('cancelled', ''),
    'retry',
    'engine_failed',
  ],
  [
    'a pack that is gone is retried: another worker may have it',
    new InferenceFailure('pack_lost', ''),
    'retry',
    'engine_unavailable',
  ],
  [
    'a device that is gone is retried: another worker has its own',
    new InferenceFailure('device_lost', ''),
    'retry',
    'engine_unavailable',
  ],
  ['an encoder failure is retried', new InferenceFailure('encode_failed', ''), 'retry', 'encode_failed'],
  ['anything unforeseen is retried', new TypeError('x is not a function'), 'retry', 'internal_error'],
  [
    'what the input itself causes fails at once: a face that is not there will not appear',
    new InferenceFailure('no_face_detected', ''),
    'fail',
    'no_face_detected',
  ],
  [
    'a store that is away costs no attempt: every job would use up its own',
    storeFailed(new StorageError('unavailable', 'get')),
    'postpone',
    'storage_failed',
  ],
  [
    'a store that refuses to be looked at costs none: it refuses this worker, and lets in others',
    storeFailed(new StorageError('rejected', 'ping')),
    'postpone',
    'storage_failed',
  ],
  [
    'a bucket that is not there costs none either',
    storeFailed(new StorageError('not_found', 'ping')),
    'postpone',
    'storage_failed',
  ],
  ['a transfer that was refused is retried', new StorageFailed(), 'retry', 'storage_failed'],
  [
    'a file of this worker that cannot be read costs an attempt: what was made of it is gone',
    storeFailed(Object.assign(new Error('unreadable'), { code: 'EIO' })),
    'retry',
    'storage_failed',
  ],
  [
    'a result that could not be stored costs an attempt: making it again and again is not free',
    storeFailed(new StorageError('unavailable', 'put')),
    'retry',
    'storage_failed',
  ],
])('%s', (_, error, kind, code) => {
  expect(classifyError(error)).toEqual({ kind, code });
});

test.each(['ENOSPC', 'EDQUOT'])(
  'a worker whose disk is full costs none: others have room (%s)',
  async (code) => {
    const full = Object.assign(new Error('no room'), { code });
    const refused: unknown = await transferring(() => Promise.reject(full)).catch((error: unknown) => error);
    for (const failure of [full, refused])
      expect(classifyError(failure)).toEqual({ kind: 'postpone', code: 'storage_failed' });
    expect(String(refused)).toContain('disk of this worker');
  },
);
