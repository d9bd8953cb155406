import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@lipsync/runtime';
import { eventually, type RunningRedis, startRedis } from '@lipsync/testkit';
import { createRateLimiter, type RateLimiter, type RateRequest } from './rate-limiter';
import { connectRedis, producerOptions } from './redis';

/** One hour, so that no token flows back during a test. */
const request: RateRequest = { key: 'cus_a:post', points: 3, perSeconds: 3600 };
/** A busy host may delay Redis for longer than a customer's request should wait. */
const PATIENCE_MS = 10_000;

describe('rate limiter', () => {
  let directory: string;
  let redis: RunningRedis;
  let limiter: RateLimiter;
  let lines: string[];
  let logger: Logger;

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
    logger = createLogger({ service: 'test', destination });
    limiter = await connected({ answerMs: PATIENCE_MS });
    lines = [];
  });

  async function connected(timing: { answerMs: number; pauseMs?: number }): Promise<RateLimiter> {
    const opened = createRateLimiter({ redisUrl: redis.url, logger, ...timing });
    // Everything is allowed until the connection is up. A probe with a key of its own tells when it is.
    await eventually(async () => {
      const { counted } = await opened.take({ key: 'probe', points: 1000, perSeconds: 60 });
      if (!counted) throw new Error('not connected yet');
    });
    return opened;
  }

  afterEach(async () => {
    limiter.close();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('allows as many requests as there are points and reports how many are left', async () => {
    const verdicts = [];
    for (let i = 0; i < 4; i += 1) verdicts.push(await limiter.take(request));
    expect(verdicts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(verdicts.every(({ limit }) => limit === 3)).toBe(true);
    expect(verdicts.map(({ retrySeconds }) => retrySeconds > 0)).toEqual([false, false, false, true]);
    const { resetSeconds = 0, retrySeconds = 0 } = verdicts[3] ?? {};
    // A third of the hour for one request, all of it for three.
    expect(retrySeconds).toBeGreaterThan(600);
    expect(retrySeconds).toBeLessThanOrEqual(1200);
    expect(resetSeconds).toBeGreaterThan(3000);
    expect(resetSeconds).toBeLessThanOrEqual(3600);
  });

  it('restores points over time', async () => {
    const quick: RateRequest = { key: 'cus_a:quick', points: 2, perSeconds: 1 };
    for (let i = 0; i < 2; i += 1) await limiter.take(quick);
    await eventually(async () => {
      expect((await limiter.take(quick)).allowed).toBe(true);
    });
  });

  it('applies a lowered limit at once, however many points are left of the former one', async () => {
    await limiter.take({ ...request, points: 100 });
    expect(await limiter.take(request)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('leaves nothing in Redis of a key that is not used any more', async () => {
    await limiter.take(request);
    const client = connectRedis(redis.url, producerOptions(), { logger, name: 'test' });
    const expiresInMs = await eventually(() => client.pttl('lipsync:bucket:cus_a:post'));
    client.disconnect();
    // The one point that was taken is back after a third of the hour; then the bucket is as good as a new one.
    expect(expiresInMs).toBeGreaterThan(0);
    expect(expiresInMs).toBeLessThanOrEqual(1_200_000);
  });

  it('never allows more than the limit to concurrent requests', async () => {
    const many: RateRequest = { key: 'cus_a:many', points: 50, perSeconds: 3600 };
    const verdicts = await Promise.all(Array.from({ length: 120 }, () => limiter.take(many)));
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(50);
  });

  it('counts each key separately, over all processes', async () => {
    const other = await connected({ answerMs: PATIENCE_MS });
    for (let i = 0; i < 3; i += 1) await limiter.take(request);
    expect((await other.take(request)).allowed).toBe(false);
    expect((await other.take({ ...request, key: 'cus_b:post' })).allowed).toBe(true);
    other.close();
  });

  it('allows everything while Redis is down, logs that once, and counts again when it is back', async () => {
    for (let i = 0; i < 3; i += 1) await limiter.take(request);
    await redis.stop();
    for (let i = 0; i < 10; i += 1) {
      expect(await limiter.take(request)).toEqual({
        allowed: true,
        counted: false,
        limit: 3,
        remaining: 3,
        resetSeconds: 3600,
        retrySeconds: 0,
      });
    }
    expect(lines.filter((line) => line.includes('rate limits are off'))).toHaveLength(1);
    redis = await startRedis({ dataDir: directory, port: redis.port });
    await eventually(async () => {
      expect((await limiter.take(request)).counted).toBe(true);
    });
  });

  describe('while Redis hangs', () => {
    const NEVER_AGAIN_MS = 3_600_000;
    let hasty: RateLimiter;

    beforeEach(async () => {
      hasty = await connected({ answerMs: 1_500, pauseMs: NEVER_AGAIN_MS });
      process.kill(redis.pid, 'SIGSTOP');
    });
    afterEach(() => {
      process.kill(redis.pid, 'SIGCONT');
      hasty.close();
    });

    it('allows the requests that waited for it, and asks it again: one timeout is not an outage', async () => {
      const verdicts = await Promise.all(Array.from({ length: 50 }, () => hasty.take(request)));
      expect(verdicts.every(({ allowed, counted }) => allowed && !counted)).toBe(true);
      process.kill(redis.pid, 'SIGCONT');
      expect((await hasty.take(request)).counted).toBe(true);
    });

    it('stops asking it for a while after the second timeout', async () => {
      for (let i = 0; i < 2; i += 1) expect((await hasty.take(request)).allowed).toBe(true);
      process.kill(redis.pid, 'SIGCONT');
      expect((await limiter.take({ ...request, key: 'cus_b:post' })).counted).toBe(true);
      expect((await hasty.take(request)).counted).toBe(false);
    });
  });
});
