import { JobTimeout, Preempted } from './job-stop';
import { LeaseLost } from './lease-keeper';
import { verdictOf } from './verdict';

const blame = () => ({ kind: 'retry', code: 'internal_error' }) as const;

describe('verdict on a job that did not complete', () => {
  test.each([
    [
      'a cancelled job is left alone, though its work reports a failure',
      new LeaseLost('refused'),
      { kind: 'drop' },
    ],
    ['a job that another worker may have is left alone', new LeaseLost('expired'), { kind: 'drop' }],
    ['a preempted job goes back without losing an attempt', new Preempted(), { kind: 'release' }],
    [
      'a job past its limit fails for good',
      new JobTimeout('engine_timeout'),
      { kind: 'fail', code: 'engine_timeout' },
    ],
  ])('%s', (_, stopped, expected) => {
    expect(verdictOf(new Error('killed'), stopped, blame)).toEqual(expected);
  });

  test('a job that was not stopped is judged by its error', () => {
    expect(verdictOf(new Error('disk full'), undefined, blame)).toEqual(blame());
  });
});
