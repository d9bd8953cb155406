import { consumersFetch } from './consumer-health';

const clock = { now: () => 100_000 };
const fresh = { lastActivityAt: () => 95_000 };
const silent = { lastActivityAt: () => 30_000 };
const answers = async (): Promise<void> => undefined;
const away = (): Promise<void> => Promise.reject(new Error('connection refused'));

describe('liveness of the consumers', () => {
  test('consumers that fetch are alive', async () => {
    await expect(consumersFetch([fresh, fresh], answers, clock)()).resolves.toBeUndefined();
  });

  test('one wedged consumer asks for a restart', async () => {
    await expect(consumersFetch([fresh, silent], answers, clock)()).rejects.toThrow('no answer');
  });

  test('an outage of redis is no reason to restart and lose running jobs', async () => {
    await expect(consumersFetch([silent], away, clock)()).resolves.toBeUndefined();
  });
});
