import { FAILED_AUTH_PER_MINUTE, ServiceError } from '@lipsync/domain';
import { type RateLimiter, type RateVerdict } from '@lipsync/queue';
import { type Clock } from '@lipsync/runtime';
import { type HttpMetrics } from './http-metrics';
import { RATE_WINDOW_SECONDS, rateLimitExceeded } from './rate-limit-headers';

/** The allowance of requests without a valid key, counted by the network that they come from. */
export function createFailedAuthLimit(deps: {
  rateLimiter: RateLimiter;
  httpMetrics: HttpMetrics;
  clock: Clock;
}) {
  const { rateLimiter, httpMetrics, clock } = deps;
  /** The last refusal of each network whose allowance is used up, the oldest first. */
  const refusals = new Map<string, { at: number; verdict: RateVerdict }>();
  // The clock may be set back, which must not prolong a refusal.
  const isCurrent = ({ at, verdict }: { at: number; verdict: RateVerdict }): boolean =>
    Math.abs(clock.now() - at) < verdict.retrySeconds * 1000;

  return {
    /** @throws ServiceError rate_limit_exceeded while the network's allowance is known to be used up */
    requireAllowance(network: string): void {
      const refusal = refusals.get(network);
      if (refusal === undefined || !isCurrent(refusal)) return;
      httpMetrics.limited('failed_auth', refusal.verdict);
      throw rateLimitExceeded(refusal.verdict);
    },
    /** The refusal of a request without a valid key: 401 for every cause, or 429 beyond the network's allowance. */
    async refuse(network: string): Promise<ServiceError> {
      const verdict = await rateLimiter.take({
        key: `failed-auth:${network}`,
        points: FAILED_AUTH_PER_MINUTE,
        perSeconds: RATE_WINDOW_SECONDS,
      });
      httpMetrics.limited('failed_auth', verdict);
      if (verdict.allowed)
        return new ServiceError('invalid_api_key', { headers: { 'WWW-Authenticate': 'Bearer' } });
      for (const [other, refusal] of refusals) {
        if (isCurrent(refusal)) break;
        refusals.delete(other);
      }
      refusals.delete(network);
      refusals.set(network, { at: clock.now(), verdict });
      return rateLimitExceeded(verdict);
    },
  };
}
