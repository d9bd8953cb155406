import { FAILED_AUTH_PER_MINUTE, ServiceError } from '@lipsync/domain';
import { type RateLimiter } from '@lipsync/queue';
import { type HttpMetrics } from './http-metrics';
import { RATE_WINDOW_SECONDS, rateLimitExceeded } from './rate-limit-headers';

/**
 * Refuses a request without a valid key: 401, the same response for every cause, until the address has used up its
 * allowance of failures; then 429.
 */
export async function refuseCredential(
  { rateLimiter, httpMetrics }: { rateLimiter: RateLimiter; httpMetrics: HttpMetrics },
  address: string,
): Promise<ServiceError> {
  const taken = await rateLimiter.take({
    key: `failed-auth:${address}`,
    points: FAILED_AUTH_PER_MINUTE,
    perSeconds: RATE_WINDOW_SECONDS,
  });
  httpMetrics.limited('failed_auth', taken);
  if (taken.allowed)
    return new ServiceError('invalid_api_key', { headers: { 'WWW-Authenticate': 'Bearer' } });
  return rateLimitExceeded(taken);
}
