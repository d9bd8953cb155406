import { type Logger } from '@lipsync/runtime';
import { connectRedis, DEFAULT_PREFIX, producerOptions } from './redis-connection';
import { type BucketState, tokenBuckets } from './token-bucket';
import { withTimeout } from './with-timeout';

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
    ...{ allowed: taken, counted: true, limit, remaining },
    resetSeconds: seconds(fullInMs),
    retrySeconds: seconds(tokenInMs),
  };
}
