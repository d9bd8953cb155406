import { type Logger } from '@lipsync/runtime';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { connectRedis, DEFAULT_PREFIX, producerOptions } from './redis-connection';
import { within } from './within';

export interface RateRequest {
  /** Who is limited, and in what respect: each key has its own count. */
  key: string;
  /** Requests allowed per window. */
  points: number;
  /** Length of the window, which begins with the first request. */
  perSeconds: number;
}

export interface RateVerdict {
  allowed: boolean;
  /** False: Redis did not answer, and everything is allowed. */
  counted: boolean;
  limit: number;
  remaining: number;
  /** Until the window ends, rounded up. */
  resetSeconds: number;
}

export interface RateLimiter {
  /** Counts one request. Never rejects: while Redis does not answer, everything is allowed. */
  take(request: RateRequest): Promise<RateVerdict>;
  close(): void;
}

const ANSWER_MS = 150;
/** After a missing answer Redis is left alone for a while, or every request would wait for it. */
const PAUSE_MS = 1_000;
const LOG_INTERVAL_MS = 10_000;

/** Limits over Redis, so that they hold over all processes. Losing Redis must not turn customers away. */
export function createRateLimiter(options: {
  redisUrl: string;
  logger: Logger;
  prefix?: string;
}): RateLimiter {
  const { logger, prefix = DEFAULT_PREFIX } = options;
  const redis = connectRedis(options.redisUrl, producerOptions(), { logger, name: 'rate-limiter' });
  const limiters = new Map<string, RateLimiterRedis>();
  let pausedUntil = 0;
  let loggedAt = -Infinity;

  function limiterOf(points: number, perSeconds: number): RateLimiterRedis {
    const kind = `${points}/${perSeconds}`;
    const known = limiters.get(kind);
    if (known) return known;
    const made = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `${prefix}:rate`,
      points,
      duration: perSeconds,
      rejectIfRedisNotReady: true,
    });
    limiters.set(kind, made);
    return made;
  }

  function failOpen(request: RateRequest, error: unknown): RateVerdict {
    const now = Date.now();
    pausedUntil = now + PAUSE_MS;
    if (now - loggedAt >= LOG_INTERVAL_MS) {
      loggedAt = now;
      logger.warn('rate limits are off: redis does not answer', { error });
    }
    return uncounted(request);
  }

  return {
    take: async (request) => {
      const { key, points, perSeconds } = request;
      if (Date.now() < pausedUntil) return uncounted(request);
      try {
        const result = await within('rate limit', ANSWER_MS, limiterOf(points, perSeconds).consume(key));
        loggedAt = -Infinity;
        return verdict(points, true, result);
      } catch (refusal) {
        // The library refuses by throwing its result, and fails by throwing an error.
        if (refusal instanceof RateLimiterRes) return verdict(points, false, refusal);
        return failOpen(request, refusal);
      }
    },
    close: () => redis.disconnect(),
  };
}

function uncounted({ points, perSeconds }: RateRequest): RateVerdict {
  return { allowed: true, counted: false, limit: points, remaining: points, resetSeconds: perSeconds };
}

function verdict(limit: number, allowed: boolean, result: RateLimiterRes): RateVerdict {
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return { allowed, counted: true, limit, remaining: Math.max(0, result.remainingPoints), resetSeconds };
}
