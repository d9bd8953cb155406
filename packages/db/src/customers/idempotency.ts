import { type ErrorCode } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';
import { type Tx } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/sql-state';

/** A customer's idempotency key for one create request, with the fingerprint of its payload. */
export interface IdempotencyClaim {
  key: string;
  fingerprint: string;
}

export interface KeyReservation extends IdempotencyClaim {
  customerId: string;
  operation: 'create_preparation';
  resourceId: string;
  expiresAt: Date;
}

/**
 * Binds the key to the resource that this transaction creates and returns null; from then on no other request can bind
 * it. If the key is already bound, returns the id of the resource that it is bound to. A concurrent duplicate waits
 * here until the first request has committed or rolled back.
 * @throws ServiceError idempotency_in_progress if that wait exceeds the transaction's lock timeout
 * @throws ServiceError idempotency_key_reused if the key was used for a different request
 */
export async function reserveKey(tx: Tx, reservation: KeyReservation): Promise<string | null> {
  const { customerId, operation, fingerprint, resourceId, expiresAt } = reservation;
  const key = storableKey(reservation.key);
  const [reserved] = await tx.$queryRaw<{ refusal: ErrorCode | null; boundTo: string | null }[]>`
    SELECT refusal, bound_to AS "boundTo" FROM reserve_idempotency_key(
      ${customerId}, ${key}, ${operation}, ${fingerprint}, ${resourceId}, ${expiresAt})`.catch(
    (error: unknown) => {
      throw sqlState(error) === LOCK_NOT_AVAILABLE ? new ServiceError('idempotency_in_progress') : error;
    },
  );
  if (reserved?.refusal) throw new ServiceError(reserved.refusal);
  return reserved?.boundTo ?? null;
}

/** A key may contain NUL and lone surrogates, which Postgres cannot store. Escaping as in JSON keeps keys distinct. */
export function storableKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}
