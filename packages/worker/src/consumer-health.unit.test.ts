import { consumerFetches } from './consumer-health';

const clock = { now: () => 100_000 };
const fresh = { lastActivityAt: () => 95_000 };
const silent = { lastActivityAt: () => 30_000 };
const answers = async (): Promise<void> => undefined;
const away = (): Promise<void> => Promise.reject(new Error('connection refused'));

describe('liveness of the consumer', () => {
  test('a consumer that fetches is alive', async () => {
    await expect(consumerFetches(fresh, answers, clock)()).resolves.toBeUndefined();
  });

  test('a wedged consumer asks for a restart', async () => {
    await expect(consumerFetches(silent, answers, clock)()).rejects.toThrow('no answer');
  });

  test('an outage of redis is no reason to restart and lose running jobs', async () => {
    await expect(consumerFetches(silent, away, clock)()).resolves.toBeUndefined();
  });
});
