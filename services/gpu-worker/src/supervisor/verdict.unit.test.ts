import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { JobTimeout, Preempted, StorageFailed } from './job-errors';
import { LeaseLost } from './lease-keeper';
import { verdict } from './verdict';

const killed = new InferenceCrash({ code: null, signal: 'SIGKILL' }, '');

describe('verdict', () => {
  test.each([
    [
      'a cancelled job is left alone, though its child reports a failure',
      new LeaseLost('refused'),
      { kind: 'drop' },
    ],
    ['a job that another worker may have is left alone', new LeaseLost('expired'), { kind: 'drop' }],
    ['a preempted job goes back without losing an attempt', new Preempted(), { kind: 'release' }],
    ['a job past its limit fails for good', new JobTimeout(), { kind: 'fail', code: 'engine_timeout' }],
  ])('%s', (_, stopped, expected) => {
    expect(verdict(killed, stopped)).toEqual(expected);
    expect(verdict(new InferenceFailure('cancelled', ''), stopped)).toEqual(expected);
  });

  test.each([
    ['a child killed from outside is retried as a lost worker', killed, 'worker_lost'],
    [
      'a child that crashed is retried as an engine failure',
      new InferenceCrash({ code: 134, signal: null }, ''),
      'engine_failed',
    ],
    ['a failed transfer is retried', new StorageFailed(), 'storage_failed'],
    ['an encoder failure is retried', new InferenceFailure('encode_failed', ''), 'encode_failed'],
    ['anything unforeseen is retried', new TypeError('x is not a function'), 'internal_error'],
  ])('%s', (_, error, code) => {
    expect(verdict(error, undefined)).toEqual({ kind: 'retry', code });
  });

  test('what the input itself causes fails at once: a face that is not there will not appear', () => {
    const failure = new InferenceFailure('no_face_detected', '');
    expect(verdict(failure, undefined)).toEqual({ kind: 'fail', code: 'no_face_detected' });
  });
});
