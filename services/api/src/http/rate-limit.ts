import { type CustomerLimits, ServiceError } from '@lipsync/domain';
import { type RateVerdict } from '@lipsync/queue';
import { type ApiDeps } from '../api-deps';

/**
 * Takes one request out of the customer's allowance; reads (GET, HEAD) are counted separately from everything else. The
 * allowance belongs to the customer, not the key, so all API keys of a customer share it.
 *
 * @returns the RateLimit headers of the response
 * @throws ServiceError rate_limit_exceeded with the same headers and Retry-After
 */
export async function limitRate(
  { rateLimiter, httpMetrics }: ApiDeps,
  customer: { id: string; limits: CustomerLimits },
  method: string,
): Promise<Record<string, string>> {
  const isRead = method === 'GET' || method === 'HEAD';
  const taken = await rateLimiter.take({
    key: `${customer.id}:${isRead ? 'read' : 'write'}`,
    points: isRead ? customer.limits.getPerMinute : customer.limits.postPerMinute,
    perSeconds: RATE_WINDOW_SECONDS,
  });
  httpMetrics.limited(isRead ? 'reads' : 'writes', taken);
  if (!taken.allowed)
    throw rateLimitExceeded(
      taken,
      `At most ${taken.limit} ${isRead ? 'GET' : 'POST'} requests per minute, for all keys together`,
    );
  return rateLimitHeaders(taken);
}

/** Every allowance of the API is a burst size that refills evenly over one minute. */
export const RATE_WINDOW_SECONDS = 60;

/** The remaining allowance as RateLimit headers. */
function rateLimitHeaders({ limit, remaining, resetSeconds }: RateVerdict): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
}

/** The refusal of a request that exceeds its allowance; `allowance` says which one that is. */
export function rateLimitExceeded(verdict: RateVerdict, allowance: string): ServiceError {
  const retryAfter = String(Math.max(1, verdict.retrySeconds));
  return new ServiceError('rate_limit_exceeded', {
    detail: `${allowance}; wait for the time in the Retry-After header.`,
    headers: { ...rateLimitHeaders(verdict), 'Retry-After': retryAfter },
  });
}
