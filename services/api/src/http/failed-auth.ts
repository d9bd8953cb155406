import { FAILED_AUTH_PER_MINUTE, ServiceError } from '@lipsync/domain';
import { type RateLimiter } from '@lipsync/queue';

const WINDOW_SECONDS = 60;

/**
 * The refusal of a request without a valid key: 401, one answer for every cause, until its address has had its share
 * of them, then 429.
 */
export async function refuseCredential(limiter: RateLimiter, address: string): Promise<ServiceError> {
  const taken = await limiter.take({
    key: `failed-auth:${address}`,
    points: FAILED_AUTH_PER_MINUTE,
    perSeconds: WINDOW_SECONDS,
  });
  if (taken.allowed)
    return new ServiceError('invalid_api_key', { headers: { 'WWW-Authenticate': 'Bearer' } });
  return new ServiceError('rate_limit_exceeded', {
    headers: {
      'RateLimit-Limit': String(taken.limit),
      'RateLimit-Remaining': String(taken.remaining),
      'RateLimit-Reset': String(taken.resetSeconds),
      'Retry-After': String(Math.max(1, taken.resetSeconds)),
    },
  });
}
