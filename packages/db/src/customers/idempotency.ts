import { type ErrorCode } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';
import { type Tx } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/sql-state';

/** A customer's key for one create request, with the fingerprint of what was asked for. */
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
 * Binds the key to the resource that this transaction creates: null, and nothing else may bind it. When it is bound
 * already, returns the resource's id. A concurrent duplicate waits here until the first has committed or rolled back;
 * where the transaction's lock timeout ends that, it throws idempotency_in_progress. Another request under the same key
 * throws idempotency_key_reused.
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

/** Postgres stores no NUL and no lone surrogates, a key may have them: escaped as in JSON, keys stay distinct. */
export function storableKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}
