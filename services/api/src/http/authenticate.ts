import { type IncomingMessage } from 'node:http';
import { type Db, findApiKey, touchApiKey } from '@lipsync/db';
import { type CustomerLimits, customerLimits, hashApiKey, isApiKey, networkOf } from '@lipsync/domain';
import { type RateLimiter } from '@lipsync/queue';
import { type Clock, type Logger } from '@lipsync/runtime';
import { type ApiConfig } from '../api-deps';
import { clientAddress } from './client-address';
import { createFailedAuthLimit } from './failed-auth';
import { type HttpMetrics } from './http-metrics';
import { createKeyUse } from './key-use';

/** The authenticated caller. */
export interface Customer {
  id: string;
  apiKeyId: string;
  limits: CustomerLimits;
}

/**
 * Reads the bearer credential and looks up its hash, on every request and without a cache: a key that was revoked a
 * second ago is refused. Only for an address that keeps failing, keys that were never valid in this process are not
 * looked up: whoever guesses keys must not occupy the database. Customers behind the same address whose keys this process
 * has seen go on.
 *
 * The returned function throws ServiceError invalid_api_key, or rate_limit_exceeded for an address that keeps failing.
 */
export function createAuthenticator(deps: {
  config: Pick<ApiConfig, 'trustedProxyHops'>;
  db: Db;
  rateLimiter: RateLimiter;
  httpMetrics: HttpMetrics;
  clock: Clock;
  logger: Logger;
}): (req: IncomingMessage) => Promise<Customer> {
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
    noteUse(owner.keyId);
    return { id: owner.customer.id, apiKeyId: owner.keyId, limits: customerLimits(owner.customer) };
  };
}

/** The key in an Authorization header, if well-formed; the scheme is case-insensitive. */
function bearer(header: string | undefined): string | null {
  const token = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return token !== undefined && isApiKey(token) ? token : null;
}
