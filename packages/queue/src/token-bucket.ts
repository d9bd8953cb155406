import { type Redis, type Result } from 'ioredis';

/**
 * One bucket per key. It starts full and holds `points`, at least one. The same number of tokens flows back, evenly, in
 * `perMs`.
 */
export interface Bucket {
  key: string;
  points: number;
  perMs: number;
}

export interface BucketState {
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
export function tokenBuckets(redis: Redis): (bucket: Bucket) => Promise<BucketState> {
  redis.defineCommand('takeToken', { numberOfKeys: 1, lua: TAKE_TOKEN });
  return async ({ key, points, perMs }) => {
    const [taken, remaining = 0, fullInMs = 0, tokenInMs = 0] = await redis.takeToken(key, points, perMs);
    return { taken: taken === 1, remaining, fullInMs, tokenInMs };
  };
}
