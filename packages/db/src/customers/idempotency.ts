import { ServiceError } from '@lipsync/domain';
import { type Tx } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/sql-state';

/** A customer's idempotency key for one create request, with the fingerprint of its payload. */
export interface IdempotencyClaim {
  key: string;
  fingerprint: string;
}

/** What a key is bound to. */
export interface KeyBinding {
  customerId: string;
  operation: 'create_render' | 'create_preparation';
  resourceId: string;
  expiresAt: Date;
}

/**
 * Binds the key to the resource that this transaction creates and returns null; from then on no other request can bind
 * it. If the key is already bound, returns the id of the resource that it is bound to. A concurrent duplicate waits
 * here until the first request has committed or rolled back. An expired key is bound anew.
 * @throws ServiceError idempotency_in_progress if that wait exceeds the transaction's lock timeout
 * @throws ServiceError idempotency_key_reused if the key was used for a different request
 */
export async function reserveKey(
  tx: Tx,
  claim: IdempotencyClaim,
  binding: KeyBinding,
): Promise<string | null> {
  const { customerId, operation, resourceId, expiresAt } = binding;
  const key = storableKey(claim.key);
  const bound = await tx.$executeRaw`
    INSERT INTO idempotency_keys AS bound (customer_id, key, operation, fingerprint, resource_id, expires_at)
    VALUES (${customerId}, ${key}, ${operation}, ${claim.fingerprint}, ${resourceId}, ${expiresAt})
    ON CONFLICT (customer_id, key) DO UPDATE SET
      operation = EXCLUDED.operation, fingerprint = EXCLUDED.fingerprint, resource_id = EXCLUDED.resource_id,
      created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
    WHERE bound.expires_at <= clock_timestamp()`.catch((error: unknown) => {
    throw sqlState(error) === LOCK_NOT_AVAILABLE ? new ServiceError('idempotency_in_progress') : error;
  });
  if (bound === 1) return null;
  // The statement above has locked the row that it left as it is, so it is there.
  const first = await tx.idempotencyKey.findFirstOrThrow({ where: { customerId, key } });
  if (first.fingerprint !== claim.fingerprint) throw new ServiceError('idempotency_key_reused');
  return first.resourceId;
}

/** A key may contain NUL and lone surrogates, which Postgres cannot store. Escaping as in JSON keeps keys distinct. */
function storableKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}
