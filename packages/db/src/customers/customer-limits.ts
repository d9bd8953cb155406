import { customerLimits, DEFAULT_CUSTOMER_LIMITS, ServiceError } from '@lipsync/domain';
import { type Tx } from '../postgres/db';

/**
 * @throws ServiceError concurrency_limit_exceeded if the customer has reached its limit of accepted and processing
 * records
 */
export async function requireRecordSlot(tx: Tx, customerId: string): Promise<void> {
  const { activeRecordsMax } = DEFAULT_CUSTOMER_LIMITS;
  const [free] = await tx.$queryRaw<{ places: number }[]>`
    SELECT free_record_places(${customerId}, ${activeRecordsMax}::int) AS places`;
  if (free === undefined || free.places < 1) throw await recordLimitReached(tx, customerId);
}

/** The refusal of a record beyond the customer's limit. */
export async function recordLimitReached(tx: Tx, customerId: string): Promise<ServiceError> {
  const { activeRecordsMax } = customerLimits(await customerOf(tx, customerId));
  const detail = `At most ${activeRecordsMax} renders and preparations may be unfinished at once; wait for one to finish, or cancel a render.`;
  return new ServiceError('concurrency_limit_exceeded', { detail });
}

/**
 * Locks the customer's row, so that counting against the limit and inserting are one step.
 * @throws ServiceError concurrency_limit_exceeded if the customer has reached its limit of uploads that wait for their
 * bytes
 */
export async function requireUploadSlot(tx: Tx, customerId: string, now: Date): Promise<void> {
  await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
  const { openUploadsMax } = customerLimits(await customerOf(tx, customerId));
  const where = { customerId, status: 'awaiting_upload', expiresAt: { gt: now } };
  if ((await tx.upload.count({ where })) < openUploadsMax) return;
  const detail = `At most ${openUploadsMax} uploads may wait for their bytes at once; complete one, or let one expire.`;
  throw new ServiceError('concurrency_limit_exceeded', { detail });
}

const customerOf = (tx: Tx, id: string) => tx.customer.findUniqueOrThrow({ where: { id } });
