import { type CustomerLimits, customerLimits, type CustomerRow, ServiceError } from '@lipsync/domain';
import { DATABASE_WAIT_MS, type Db, transaction, type Tx } from '../postgres/db';
import { LOCK_NOT_AVAILABLE, sqlState } from '../postgres/errors';

/** How long to wait for a lock on a customer's rows. A duplicate request waits until the first request has ended. */
const LOCK_TIMEOUT = '5s';
/**
 * How many such transactions one customer may have in a process at once. They mostly wait for each other's locks, and
 * each holds a connection meanwhile: whatever one customer sends, most connections remain for the others.
 */
const AT_ONCE = 2;

/**
 * Runs `work`, which takes locks on this customer's rows, in one transaction when its turn comes. `now` is the time on
 * the database's clock when it began.
 * Fails with LOCK_NOT_AVAILABLE if a lock is not available in time, and with service_unavailable, before `work` begins, if
 * its turn does not come in time.
 */
export async function customerTransaction<T>(
  db: Db,
  customerId: string,
  work: (tx: Tx, now: Date) => Promise<T>,
): Promise<T> {
  const turns = db.turns.get(customerId) ?? { running: 0, waiting: [] };
  db.turns.set(customerId, turns);
  const since = performance.now();
  if (turns.running < AT_ONCE) turns.running += 1;
  else await new Promise<void>((begin) => turns.waiting.push(begin));
  try {
    // The running ones end by their lock or statement timeout at the latest, so no timer is needed to notice this.
    if (performance.now() - since >= DATABASE_WAIT_MS) throw new ServiceError('service_unavailable');
    return await transaction(db, async (tx) => {
      const [begun] = await tx.$queryRaw<{ now: Date }[]>`
        SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true), clock_timestamp() AS now`;
      if (begun === undefined) throw new Error('the statement returned no row');
      return work(tx, begun.now);
    });
  } finally {
    const next = turns.waiting.shift();
    if (next !== undefined) next();
    else if ((turns.running -= 1) === 0) db.turns.delete(customerId);
  }
}

/** A customer's idempotency key for one create request, with the fingerprint of its payload. */
export interface IdempotencyClaim {
  key: string;
  fingerprint: string;
}

/** What a key is bound to. */
interface KeyBinding {
  customerId: string;
  operation: 'create_render' | 'create_preparation';
  resourceId: string;
  expiresAt: Date;
}

/**
 * Binds the key to the resource that this transaction creates and returns null; from then on no other request can bind
 * it. If the key is already bound, returns the id of the resource that it is bound to. A concurrent duplicate waits
 * here until the first request has committed or rolled back. An expired key is bound again.
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
  // The statement above locked the existing row without changing it, so the row is still there.
  const first = await tx.idempotencyKey.findFirstOrThrow({ where: { customerId, key } });
  if (first.fingerprint !== claim.fingerprint) throw new ServiceError('idempotency_key_reused');
  return first.resourceId;
}

/** A key may contain NUL and lone surrogates, which Postgres cannot store. Escaping as in JSON keeps keys distinct. */
function storableKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}

/**
 * Counting against the limit and inserting are one step: until the caller commits, nobody else counts this customer's
 * records or uploads.
 * @throws ServiceError invalid_api_key as `requireActive`, and concurrency_limit_exceeded if the customer has reached its
 * limit of accepted and processing records
 */
export async function requireRecordSlot(tx: Tx, customerId: string): Promise<void> {
  const { activeRecordsMax } = await lockCustomer(tx, customerId);
  const [open] = await tx.$queryRaw<{ records: number }[]>`
    SELECT (SELECT count(*) FROM renders WHERE customer_id = ${customerId} AND status IN ('accepted', 'processing'))::int
      + (SELECT count(*) FROM preparations WHERE customer_id = ${customerId} AND status IN ('accepted', 'processing'))::int
      AS records`;
  if (open !== undefined && open.records < activeRecordsMax) return;
  const detail = `At most ${activeRecordsMax} renders and preparations may be unfinished at once; wait for one to finish, or cancel a render.`;
  throw new ServiceError('concurrency_limit_exceeded', { detail });
}

/**
 * The same for uploads.
 * @throws ServiceError invalid_api_key as `requireActive`, and concurrency_limit_exceeded if the customer has reached its
 * limit of uploads that wait for their bytes
 */
export async function requireUploadSlot(tx: Tx, customerId: string, now: Date): Promise<void> {
  const { openUploadsMax } = await lockCustomer(tx, customerId);
  const where = { customerId, status: 'awaiting_upload', expiresAt: { gt: now } };
  if ((await tx.upload.count({ where })) < openUploadsMax) return;
  const detail = `At most ${openUploadsMax} uploads may be open at once; complete one, or let one expire.`;
  throw new ServiceError('concurrency_limit_exceeded', { detail });
}

/** Locks the customer's row. What is counted after this includes what was committed while the lock was waited for. */
async function lockCustomer(tx: Tx, customerId: string): Promise<CustomerLimits> {
  await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
  const customer = await tx.customer.findUniqueOrThrow({ where: { id: customerId } });
  requireState(customer);
  return customerLimits(customer);
}

/**
 * For what is created without being counted. Holds off a change of the customer's state until the caller commits, so that
 * the change sees all that was created before, and nothing is created after it.
 * @throws ServiceError invalid_api_key if the customer was suspended since its key was looked up
 */
export async function requireActive(tx: Tx, customerId: string): Promise<void> {
  await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR SHARE`;
  requireState(await tx.customer.findUniqueOrThrow({ where: { id: customerId } }));
}

function requireState({ state }: CustomerRow): void {
  if (state !== 'active')
    throw new ServiceError('invalid_api_key', { headers: { 'WWW-Authenticate': 'Bearer' } });
}
