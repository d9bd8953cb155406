import { type Logger } from '@lipsync/runtime';
import { type Redis, type Result } from 'ioredis';
import { connectRedis, DEFAULT_PREFIX, producerOptions, withTimeout } from './redis';

export interface RateRequest {
  /** Whom to limit, and in what respect. Each key has a count of its own. */
  key: string;
  /** Requests allowed at once, and, evenly spread, per `perSeconds`. */
  points: number;
  perSeconds: number;
}

export interface RateVerdict {
  allowed: boolean;
  /** False if Redis did not answer, so that everything is allowed. */
  counted: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the limit is fully restored, rounded up. */
  resetSeconds: number;
  /** Seconds until a request would be allowed, rounded up; 0 if this one was. */
  retrySeconds: number;
}

export interface RateLimiter {
  /** Counts one request. Never rejects: if Redis does not answer, everything is allowed. */
  take(request: RateRequest): Promise<RateVerdict>;
  close(): void;
}

const ANSWER_MS = 150;
const PAUSE_MS = 1_000;
const LOG_INTERVAL_MS = 10_000;

/**
 * A rate limiter over Redis, so that limits hold over all processes. An outage of Redis must not turn customers away.
 */
export function createRateLimiter(options: {
  redisUrl: string;
  logger: Logger;
  prefix?: string;
  /** How long a request waits for Redis, in milliseconds. */
  answerMs?: number;
  /**
   * How long to avoid Redis after two timeouts in a row, in milliseconds; otherwise every request would wait for it.
   */
  pauseMs?: number;
}): RateLimiter {
  const { logger, prefix = DEFAULT_PREFIX, answerMs = ANSWER_MS, pauseMs = PAUSE_MS } = options;
  const redis = connectRedis(options.redisUrl, producerOptions(), { logger, name: 'rate-limiter' });
  const takeToken = tokenBuckets(redis);
  /** When the first timeout since the last answer occurred. */
  let missingSince = Infinity;
  let pausedUntil = -Infinity;
  let loggedAt = -Infinity;

  function failOpen(request: RateRequest, askedAt: number, error: unknown): RateVerdict {
    const now = performance.now();
    // Requests that waited at the same time count as one: a single stall of Redis must not switch all limits off.
    if (askedAt >= missingSince) pausedUntil = now + pauseMs;
    missingSince = Math.min(missingSince, now);
    if (now - loggedAt >= LOG_INTERVAL_MS) {
      loggedAt = now;
      logger.warn('rate limits are off: redis does not answer', { error });
    }
    return uncounted(request);
  }

  return {
    take: async (request) => {
      const { key, points, perSeconds } = request;
      const askedAt = performance.now();
      if (askedAt < pausedUntil) return uncounted(request);
      try {
        const bucket = { key: `${prefix}:bucket:${key}`, points, perMs: perSeconds * 1000 };
        const state = await withTimeout('rate limit', answerMs, takeToken(bucket));
        missingSince = Infinity;
        loggedAt = -Infinity;
        return verdict(points, state);
      } catch (error) {
        return failOpen(request, askedAt, error);
      }
    },
    close: () => redis.disconnect(),
  };
}

function uncounted({ points, perSeconds }: RateRequest): RateVerdict {
  const whole = { limit: points, remaining: points, resetSeconds: perSeconds, retrySeconds: 0 };
  return { allowed: true, counted: false, ...whole };
}

function verdict(limit: number, { taken, remaining, fullInMs, tokenInMs }: BucketState): RateVerdict {
  const seconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
  return {
    allowed: taken,
    counted: true,
    limit,
    remaining,
    resetSeconds: seconds(fullInMs),
    retrySeconds: seconds(tokenInMs),
  };
}

/**
 * One bucket per key. It starts full and holds `points`, at least one. The same number of tokens flows back, evenly, in
 * `perMs`.
 */
interface Bucket {
  key: string;
  points: number;
  perMs: number;
}

interface BucketState {
  /** Whether a token was taken. */
  taken: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Milliseconds until the bucket is full again. */
  fullInMs: number;
  /** Milliseconds until a token is available; 0 if one was. */
  tokenInMs: number;
}

/**
 * Takes a token if there is one. Uses Redis' own clock, so that all processes count alike. A bucket that is full again
 * is deleted. A refusal changes nothing, so that asking again too early does not prolong the wait.
 */
const TAKE_TOKEN = `
  local points, window = tonumber(ARGV[1]), tonumber(ARGV[2])
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local kept = redis.call('HMGET', KEYS[1], 'tokens', 'at')
  local tokens, at = tonumber(kept[1]) or points, tonumber(kept[2]) or now
  tokens = math.min(points, tokens + math.max(0, now - at) * points / window)
  local taken = tokens >= 1
  if taken then tokens = tokens - 1 end
  local full = math.ceil((points - tokens) * window / points)
  if not taken then return { 0, 0, full, math.ceil((1 - tokens) * window / points) } end
  redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
  redis.call('PEXPIRE', KEYS[1], full)
  return { 1, math.floor(tokens), full, 0 }`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeToken(key: string, points: number, perMs: number): Result<number[], Context>;
  }
}

/** Returns a function that takes tokens over this connection, in one round trip each. It rejects if Redis does. */
function tokenBuckets(redis: Redis): (bucket: Bucket) => Promise<BucketState> {
  redis.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE_TOKEN });
  return async ({ key, points, perMs }) => {
    const [taken, remaining = 0, fullInMs = 0, tokenInMs = 0] = await redis.takeToken(key, points, perMs);
    return { taken: taken === 1, remaining, fullInMs, tokenInMs };
  };
}
