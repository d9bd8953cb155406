import { type IncomingMessage } from 'node:http';
import { type Db, findApiKeys, type KeyOwner, touchApiKey } from '@lipsync/db';
import { type CustomerLimits, customerLimits, hashApiKey, isApiKey } from '@lipsync/domain';
import { type RateLimiter } from '@lipsync/queue';
import { batchCalls, type Clock, type Logger } from '@lipsync/runtime';
import { type ApiConfig } from '../api-deps';
import { DATABASE_WAIT } from '../database-wait';
import { clientAddress } from './client-address';
import { refuseCredential } from './failed-auth';
import { type HttpMetrics } from './http-metrics';
import { createKeyUse } from './key-use';

const BATCHES = { max: 32, inFlight: 2, limit: DATABASE_WAIT };

/** The authenticated caller. */
export interface Customer {
  id: string;
  apiKeyId: string;
  limits: CustomerLimits;
}

/**
 * Reads the bearer credential and looks up its hash, on every request and without a cache: a key that was revoked a
 * second ago is refused.
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
  const findKey = batchCalls<string, KeyOwner | null>(BATCHES, (hashes) => findApiKeys(db, hashes));
  return async (req) => {
    const key = bearer(req.headers.authorization);
    const owner = key === null ? null : await findKey(hashApiKey(key));
    if (owner === null) throw await refuseCredential(deps, clientAddress(req, config.trustedProxyHops));
    noteUse(owner.keyId);
    return { id: owner.customer.id, apiKeyId: owner.keyId, limits: customerLimits(owner.customer) };
  };
}

/** The key in an Authorization header, if well-formed; the scheme is case-insensitive. */
function bearer(header: string | undefined): string | null {
  const token = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return token !== undefined && isApiKey(token) ? token : null;
}
