import { createLogger } from '@lipsync/runtime';
import { testPrefix, testRedisUrl } from '@lipsync/testkit';
import { Redis } from 'ioredis';
import { createAnnouncementBell } from './announcement-bell';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('announcement bell', () => {
  it('rings once for an announcement, and for the next one only when it is there', async () => {
    const prefix = testPrefix();
    const [first, second] = [`${prefix}:first`, `${prefix}:second`] as const;
    const redis = new Redis(testRedisUrl());
    const bell = createAnnouncementBell({ redisUrl: testRedisUrl(), logger });
    const ring = () => bell.wait([first, second]);
    await redis.zadd(first, 0, '0');
    expect(await ring()).toBe(first);
    const next = ring();
    await redis.zadd(second, 0, '0');
    expect(await next).toBe(second);
    bell.close();
    redis.disconnect();
  });
});
