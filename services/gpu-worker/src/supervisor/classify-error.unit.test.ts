import { StorageError } from '@lipsync/storage';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { classifyError } from './classify-error';
import { StorageFailed, transferring } from './gpu-job';

describe('what an error says about a job', () => {
  test.each([
    [
      'a child killed from outside is retried as a lost worker',
      new InferenceCrash({ code: null, signal: 'SIGKILL' }, ''),
      'worker_lost',
    ],
    [
      'a child that crashed is retried as an engine failure',
      new InferenceCrash({ code: 134, signal: null }, ''),
      'engine_failed',
    ],
    [
      'a child that hung is retried as an engine failure: nobody else ended it',
      new InferenceCrash({ code: null, signal: 'SIGKILL' }, '', { hung: true }),
      'engine_failed',
    ],
    [
      'a child that ended because memory ran out is retried as such',
      new InferenceCrash({ code: null, signal: 'SIGABRT' }, "instance of 'std::bad_alloc'"),
      'engine_out_of_memory',
    ],
    [
      'a cancel that nobody asked for is retried as an engine failure',
      new InferenceFailure('cancelled', ''),
      'engine_failed',
    ],
    [
      'a pack that is gone is retried: another worker may have it',
      new InferenceFailure('pack_lost', ''),
      'engine_unavailable',
    ],
    [
      'a device that is gone is retried: another worker has its own',
      new InferenceFailure('device_lost', ''),
      'engine_unavailable',
    ],
    ['a transfer that was refused is retried', new StorageFailed(), 'storage_failed'],
    ['an encoder failure is retried', new InferenceFailure('encode_failed', ''), 'encode_failed'],
    ['anything unforeseen is retried', new TypeError('x is not a function'), 'internal_error'],
  ])('%s', (_, error, code) => {
    expect(classifyError(error)).toEqual({ kind: 'retry', code });
  });

  test('a store that is away costs no attempt: every job would use up its own', () => {
    const failure = new StorageFailed('', { cause: new StorageError('unavailable', 'get') });
    expect(classifyError(failure)).toEqual({ kind: 'postpone', code: 'storage_failed' });
  });

  test('a store that refuses to be looked at costs none: it refuses this worker, and lets in others', () => {
    for (const kind of ['rejected', 'not_found'] as const) {
      const failure = new StorageFailed('', { cause: new StorageError(kind, 'ping') });
      expect(classifyError(failure)).toEqual({ kind: 'postpone', code: 'storage_failed' });
    }
  });

  test.each(['ENOSPC', 'EDQUOT'])(
    'a worker whose disk is full costs none: others have room (%s)',
    async (code) => {
      const full = Object.assign(new Error('no room'), { code });
      const refused: unknown = await transferring(() => Promise.reject(full)).catch(
        (error: unknown) => error,
      );
      for (const failure of [full, refused])
        expect(classifyError(failure)).toEqual({ kind: 'postpone', code: 'storage_failed' });
      expect(String(refused)).toContain('disk of this worker');
    },
  );

  test('a file of this worker that cannot be read costs an attempt: what was made of it is gone', () => {
    const broken = Object.assign(new Error('unreadable'), { code: 'EIO' });
    const failure = new StorageFailed('', { cause: broken });
    expect(classifyError(failure)).toEqual({ kind: 'retry', code: 'storage_failed' });
  });

  test('a result that could not be stored costs an attempt: making it again and again is not free', () => {
    const failure = new StorageFailed('', { cause: new StorageError('unavailable', 'put') });
    expect(classifyError(failure)).toEqual({ kind: 'retry', code: 'storage_failed' });
  });

  test('what the input itself causes fails at once: a face that is not there will not appear', () => {
    const failure = new InferenceFailure('no_face_detected', '');
    expect(classifyError(failure)).toEqual({ kind: 'fail', code: 'no_face_detected' });
  });
});
