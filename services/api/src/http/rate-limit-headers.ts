import { ServiceError } from '@lipsync/domain';
import { type RateVerdict } from '@lipsync/queue';

/** Every allowance of the API is so many requests at once, and as many, evenly, in each minute. */
export const RATE_WINDOW_SECONDS = 60;

/** What is left of an allowance, as the RateLimit headers say it. */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateVerdict): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
}

/** The refusal of a request that is beyond its allowance. */
export function rateLimitExceeded(verdict: RateVerdict): ServiceError {
  const retryAfter = String(Math.max(1, verdict.retrySeconds));
  return new ServiceError('rate_limit_exceeded', {
    headers: { ...rateLimitHeaders(verdict), 'Retry-After': retryAfter },
  });
}
