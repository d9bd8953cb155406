import { createLogger } from '@lipsync/runtime';
import { eventually, testPrefix, testRedisUrl } from '@lipsync/testkit';
import { Redis } from 'ioredis';
import { createQueues } from './queues';
import { cancelChannel, listen } from './signals';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('signals', () => {
  it('of a cancellation reach every listener with the prefix and no other', async () => {
    const common = { redisUrl: testRedisUrl(), logger };
    const prefix = testPrefix();
    const heard: string[][] = [[], [], []];
    const listeners = [prefix, prefix, testPrefix()].map((of, index) =>
      listen({ ...common, prefix: of }, { onCancelled: (jobId) => heard[index]?.push(jobId) }),
    );
    const queues = createQueues({ ...common, prefix });
    // A listener only receives what is published after its subscription, which takes a moment.
    await eventually(async () => {
      await queues.signalCancel(['job_a', 'job_b']);
      expect(heard[0]).toEqual(expect.arrayContaining(['job_a', 'job_b']));
      expect(heard[1]).toEqual(expect.arrayContaining(['job_a', 'job_b']));
    });
    expect(heard[2]).toEqual([]);
    for (const listener of listeners) listener.close();
    await queues.close();
  });

  it('survive messages that no version of this service sends', async () => {
    const prefix = testPrefix();
    const heard: string[] = [];
    const listener = listen(
      { redisUrl: testRedisUrl(), logger, prefix },
      { onCancelled: (jobId) => heard.push(jobId) },
    );
    const redis = new Redis(testRedisUrl());
    const publish = (message: string) => redis.publish(cancelChannel(prefix), message);
    await eventually(async () => {
      for (const message of ['', 'job_a', '"job_a"', 'null', '[1, null, {}]']) await publish(message);
      await publish('["job_b"]');
      expect(new Set(heard)).toEqual(new Set(['job_b']));
    });
    listener.close();
    redis.disconnect();
  });
});
