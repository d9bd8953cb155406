import { dispositionOf } from './disposition';
import { JobTimeout, LeaseLost, Preempted } from './lease-keeper';
import { consumerFetches } from './worker';

const silent = { silentMs: () => 70_000 };
const answers = async (): Promise<void> => undefined;
const away = (): Promise<void> => Promise.reject(new Error('connection refused'));

describe('liveness of the consumer', () => {
  test('a wedged consumer asks for a restart', async () => {
    await expect(consumerFetches(silent, answers)()).rejects.toThrow('no answer');
  });

  test('an outage of Redis is no reason to restart and lose running jobs', async () => {
    await expect(consumerFetches(silent, away)()).resolves.toBeUndefined();
  });
});

const classifyError = () => ({ kind: 'retry', code: 'internal_error' }) as const;

describe('the disposition of a job that did not complete', () => {
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
    expect(dispositionOf(new Error('killed'), stopped, classifyError)).toEqual(expected);
  });

  test('a job that was not stopped is classified by its error', () => {
    expect(dispositionOf(new Error('disk full'), undefined, classifyError)).toEqual(classifyError());
  });
});
