import { type Logger } from '@lipsync/runtime';
import { connectRedis, DEFAULT_PREFIX, producerOptions } from './redis-connection';
import { type BucketState, tokenBuckets } from './token-bucket';
import { withTimeout } from './with-timeout';

export interface RateRequest {
  /** Who is limited, and in what respect: each key has its own count. */
  key: string;
  /** Requests allowed at once, and, evenly, per `perSeconds`. */
  points: number;
  perSeconds: number;
}

export interface RateVerdict {
  allowed: boolean;
  /** False: Redis did not answer, and everything is allowed. */
  counted: boolean;
  limit: number;
  remaining: number;
  /** Until the limit is whole again, rounded up. */
  resetSeconds: number;
  /** Until a request would be allowed, rounded up; 0 when this one was. */
  retrySeconds: number;
}

export interface RateLimiter {
  /** Counts one request. Never rejects: while Redis does not answer, everything is allowed. */
  take(request: RateRequest): Promise<RateVerdict>;
  close(): void;
}

const ANSWER_MS = 150;
const PAUSE_MS = 1_000;
const LOG_INTERVAL_MS = 10_000;

/** Limits over Redis, so that they hold over all processes. Losing Redis must not turn customers away. */
export function createRateLimiter(options: {
  redisUrl: string;
  logger: Logger;
  prefix?: string;
  /** How long a request waits for Redis. */
  answerMs?: number;
  /** How long Redis is left alone after answers were missing twice in a row, or every request would wait for it. */
  pauseMs?: number;
}): RateLimiter {
  const { logger, prefix = DEFAULT_PREFIX, answerMs = ANSWER_MS, pauseMs = PAUSE_MS } = options;
  const redis = connectRedis(options.redisUrl, producerOptions(), { logger, name: 'rate-limiter' });
  const takeToken = tokenBuckets(redis);
  /** When an answer was first missing, since the last one that came. */
  let missingSince = Infinity;
  let pausedUntil = -Infinity;
  let loggedAt = -Infinity;

  function failOpen(request: RateRequest, askedAt: number, error: unknown): RateVerdict {
    const now = performance.now();
    // Requests that waited together count as one: a single pause of Redis must not switch all limits off.
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
    ...{ allowed: taken, counted: true, limit, remaining },
    resetSeconds: Math.max(1, seconds(fullInMs)),
    retrySeconds: seconds(tokenInMs),
  };
}
