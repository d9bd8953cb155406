import { ServiceError } from '@lipsync/domain';
import { type RateVerdict } from '@lipsync/queue';

/** Every allowance of the API is a burst size that refills evenly over one minute. */
export const RATE_WINDOW_SECONDS = 60;

/** The remaining allowance as RateLimit headers. */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: RateVerdict): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
}

/** The refusal of a request that exceeds its allowance. */
export function rateLimitExceeded(verdict: RateVerdict): ServiceError {
  const retryAfter = String(Math.max(1, verdict.retrySeconds));
  return new ServiceError('rate_limit_exceeded', {
    headers: { ...rateLimitHeaders(verdict), 'Retry-After': retryAfter },
  });
}
