import { type RateLimiter } from '@lipsync/queue';
import { type Customer } from './authenticate';
import { type HttpMetrics } from './http-metrics';
import { RATE_WINDOW_SECONDS, rateLimitExceeded, rateLimitHeaders } from './rate-limit-headers';

/**
 * Takes one request out of the customer's allowance; reads (GET, HEAD) are counted separately from everything else. The
 * allowance belongs to the customer, not the key, so all API keys of a customer share it.
 *
 * @returns the RateLimit headers of the response
 * @throws ServiceError rate_limit_exceeded with the same headers and Retry-After
 */
export async function limitRate(
  { rateLimiter, httpMetrics }: { rateLimiter: RateLimiter; httpMetrics: HttpMetrics },
  customer: Customer,
  method: string,
): Promise<Record<string, string>> {
  const isRead = method === 'GET' || method === 'HEAD';
  const taken = await rateLimiter.take({
    key: `${customer.id}:${isRead ? 'read' : 'write'}`,
    points: isRead ? customer.limits.getPerMinute : customer.limits.postPerMinute,
    perSeconds: RATE_WINDOW_SECONDS,
  });
  httpMetrics.limited(isRead ? 'reads' : 'writes', taken);
  if (!taken.allowed) throw rateLimitExceeded(taken);
  return rateLimitHeaders(taken);
}
