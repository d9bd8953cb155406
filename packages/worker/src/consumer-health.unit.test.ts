import { consumerFetches } from './consumer-health';

const fresh = { silentMs: () => 5_000 };
const silent = { silentMs: () => 70_000 };
const answers = async (): Promise<void> => undefined;
const away = (): Promise<void> => Promise.reject(new Error('connection refused'));

describe('liveness of the consumer', () => {
  test('a consumer that fetches is alive', async () => {
    await expect(consumerFetches(fresh, answers)()).resolves.toBeUndefined();
  });

  test('a wedged consumer asks for a restart', async () => {
    await expect(consumerFetches(silent, answers)()).rejects.toThrow('no answer');
  });

  test('an outage of Redis is no reason to restart and lose running jobs', async () => {
    await expect(consumerFetches(silent, away)()).resolves.toBeUndefined();
  });
});
