import { ServiceError } from '@lipsync/domain';
import { databaseNow } from './database-clock';
import { type Tx } from './db';
import { LOCK_NOT_AVAILABLE, sqlState } from './sql-state';

/** A customer's key for one create request, with the fingerprint of what was asked for. */
export interface IdempotencyClaim {
  key: string;
  fingerprint: string;
}

export interface KeyReservation extends IdempotencyClaim {
  customerId: string;
  operation: 'create_render' | 'create_preparation';
  resourceId: string;
  expiresAt: Date;
}

/** A key that expired under our eyes is replaced; more often than this it cannot. */
const ROUNDS = 4;

/**
 * Binds the key to the resource that this transaction creates: null, and nothing else may bind it. When it is bound
 * already, returns the resource's id. A concurrent duplicate waits here until the first has committed or rolled back;
 * after 5 s it throws idempotency_in_progress. Another request under the same key throws idempotency_key_reused.
 */
export async function reserveKey(tx: Tx, reservation: KeyReservation): Promise<string | null> {
  const { customerId } = reservation;
  const key = storableKey(reservation.key);
  await tx.$queryRaw`SELECT set_config('lock_timeout', '5s', true)`;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (await insertKey(tx, { ...reservation, key })) return null;
    const bound = await tx.idempotencyKey.findUnique({ where: { customerId_key: { customerId, key } } });
    if (bound === null) continue;
    if (bound.expiresAt <= (await databaseNow(tx))) {
      await tx.idempotencyKey.deleteMany({ where: { customerId, key, expiresAt: bound.expiresAt } });
      continue;
    }
    if (bound.fingerprint !== reservation.fingerprint) throw new ServiceError('idempotency_key_reused');
    return bound.resourceId;
  }
  throw new ServiceError('idempotency_in_progress');
}

async function insertKey(tx: Tx, reservation: KeyReservation): Promise<boolean> {
  const { customerId, key, operation, fingerprint, resourceId, expiresAt } = reservation;
  try {
    const inserted = await tx.$executeRaw`
      INSERT INTO idempotency_keys (customer_id, key, operation, fingerprint, resource_id, expires_at)
      VALUES (${customerId}, ${key}, ${operation}, ${fingerprint}, ${resourceId}, ${expiresAt})
      ON CONFLICT (customer_id, key) DO NOTHING`;
    return inserted === 1;
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) throw new ServiceError('idempotency_in_progress');
    throw error;
  }
}

/** Postgres stores no NUL and no lone surrogates, a key may have them: escaped as in JSON, keys stay distinct. */
function storableKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}
