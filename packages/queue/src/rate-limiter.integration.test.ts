import { createLogger } from '@lipsync/runtime';
import { eventually, type RunningRedis, startRedis } from '@lipsync/testkit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createRateLimiter, type RateLimiter, type RateRequest } from './rate-limiter';

const request: RateRequest = { key: 'cus_a:post', points: 3, perSeconds: 60 };

describe('rate limiter', () => {
  let directory: string;
  let redis: RunningRedis;
  let limiter: RateLimiter;
  let lines: string[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lipsync-redis-'));
    redis = await startRedis({ dataDir: directory });
    lines = [];
    const destination = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk.toString());
        done();
      },
    });
    limiter = createRateLimiter({
      redisUrl: redis.url,
      logger: createLogger({ service: 'test', destination }),
    });
    // Until the connection is up everything is allowed; a probe of its own key tells when it is.
    await eventually(async () => {
      const probe = await limiter.take({ key: 'probe', points: 1000, perSeconds: 60 });
      if (probe.remaining === 1000) throw new Error('not connected yet');
    });
    lines = [];
  });

  afterEach(async () => {
    limiter.close();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('allows as many requests as there are points and says how many are left', async () => {
    const verdicts = [];
    for (let i = 0; i < 4; i += 1) verdicts.push(await limiter.take(request));
    expect(verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(verdicts.every(({ limit }) => limit === 3)).toBe(true);
    expect(verdicts[3]?.resetSeconds).toBeGreaterThan(0);
    expect(verdicts[3]?.resetSeconds).toBeLessThanOrEqual(60);
  });

  it('counts each key by itself, over all processes', async () => {
    const other = createRateLimiter({
      redisUrl: redis.url,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    for (let i = 0; i < 3; i += 1) await limiter.take(request);
    await eventually(async () => {
      expect((await other.take(request)).allowed).toBe(false);
    });
    expect((await other.take({ ...request, key: 'cus_b:post' })).allowed).toBe(true);
    other.close();
  });

  it('allows everything while Redis is gone, says so once, and counts again when it is back', async () => {
    for (let i = 0; i < 3; i += 1) await limiter.take(request);
    await redis.stop();
    for (let i = 0; i < 10; i += 1) {
      expect(await limiter.take(request)).toEqual({
        allowed: true,
        counted: false,
        limit: 3,
        remaining: 3,
        resetSeconds: 60,
      });
    }
    expect(lines.filter((line) => line.includes('rate limits are off'))).toHaveLength(1);
    redis = await startRedis({ dataDir: directory, port: redis.port });
    await eventually(async () => {
      expect((await limiter.take(request)).remaining).toBeLessThan(3);
    });
  }, 20_000);

  it('answers while Redis hangs, and lets only one request in a while wait for it', async () => {
    process.kill(redis.pid, 'SIGSTOP');
    try {
      const verdicts = await Promise.all(Array.from({ length: 50 }, () => limiter.take(request)));
      expect(verdicts.every(({ allowed }) => allowed)).toBe(true);
      expect((await limiter.take(request)).allowed).toBe(true);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });
});
