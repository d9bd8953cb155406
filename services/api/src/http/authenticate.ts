import { type IncomingMessage } from 'node:http';
import { findApiKey, touchApiKey } from '@lipsync/db';
import {
  type CustomerLimits,
  customerLimits,
  FAILED_AUTH_PER_MINUTE,
  hashApiKey,
  isApiKey,
  networkOf,
  ServiceError,
} from '@lipsync/domain';
import { type RateVerdict } from '@lipsync/queue';
import { type Logger } from '@lipsync/runtime';
import { type ApiDeps } from '../api-deps';
import { RATE_WINDOW_SECONDS, rateLimitExceeded } from './rate-limit';

/** The authenticated caller. */
export interface Customer {
  id: string;
  apiKeyId: string;
  limits: CustomerLimits;
}

/** @throws ServiceError invalid_api_key, or rate_limit_exceeded for an address that keeps failing */
export type Authenticate = (req: IncomingMessage) => Promise<Customer>;

/**
 * Reads the bearer credential and looks up its hash, on every request and without a cache: a key that was revoked, has
 * expired or whose customer was suspended a second ago is refused. Guessing keys must not occupy the database: for an
 * address that keeps failing, only keys that this process has seen to be valid are looked up, so that customers behind
 * that address are served.
 */
export function createAuthenticator(deps: ApiDeps): Authenticate {
  const { db, config } = deps;
  const noteUse = createKeyUse({ ...deps, touch: (keyId) => touchApiKey(db, keyId) });
  const failedAuth = createFailedAuthLimit(deps);
  /** Hashes of the keys that were valid when they were last looked up. */
  const valid = new Set<string>();
  return async (req) => {
    const network = networkOf(clientAddress(req, config.trustedProxyHops));
    const key = bearer(req.headers.authorization);
    const hash = key === null ? null : hashApiKey(key);
    if (hash === null || !valid.has(hash)) failedAuth.requireAllowance(network);
    const owner = hash === null ? null : await findApiKey(db, hash);
    if (hash === null || owner === null) {
      if (hash !== null) valid.delete(hash);
      throw await failedAuth.refuse(network);
    }
    valid.add(hash);
    if (owner.useIsStale) noteUse(owner.keyId);
    return { id: owner.id, apiKeyId: owner.keyId, limits: customerLimits(owner) };
  };
}

/** The key in an Authorization header, if well-formed; the scheme is case-insensitive. */
function bearer(header: string | undefined): string | null {
  const token = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return token !== undefined && isApiKey(token) ? token : null;
}

const WITHOUT_A_KEY = `At most ${FAILED_AUTH_PER_MINUTE} requests per minute without a valid key from one address`;

/** The allowance of requests without a valid key, counted by the network that they come from. */
function createFailedAuthLimit({ rateLimiter, httpMetrics, clock }: ApiDeps) {
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
      throw rateLimitExceeded(refusal.verdict, WITHOUT_A_KEY);
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
      return rateLimitExceeded(verdict, WITHOUT_A_KEY);
    },
  };
}

/**
 * Records in the background that a key was used, one write of a key at a time. Losing a record does no harm, so recording
 * neither delays nor refuses the request that caused it; a later request tries again.
 */
export function createKeyUse(deps: {
  touch: (keyId: string) => Promise<void>;
  logger: Logger;
}): (keyId: string) => void {
  const underWay = new Set<string>();
  return (keyId) => {
    if (underWay.has(keyId)) return;
    underWay.add(keyId);
    deps
      .touch(keyId)
      .catch((error: unknown) =>
        deps.logger.warn('could not record the use of a key', { api_key_id: keyId, error }),
      )
      .finally(() => underWay.delete(keyId));
  };
}

/**
 * The address that a request comes from: the peer's, or the one reported by the trusted proxies. Each proxy appends its
 * peer's address to X-Forwarded-For, so with n proxies the client is the nth entry from the end; the client may have
 * forged any entry before that.
 */
export function clientAddress(req: IncomingMessage, trustedProxyHops: number): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  if (trustedProxyHops === 0) return peer;
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().flatMap((value) => value.split(','));
  const path = [peer, ...forwarded.map((entry) => entry.trim()).reverse()];
  return path[Math.min(trustedProxyHops, path.length - 1)] ?? peer;
}
