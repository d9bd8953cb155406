import { type CustomerLimits, customerLimits, RECORD_STATES, ServiceError } from '@lipsync/domain';
import { type Tx } from '../postgres/db';

/**
 * Counting against the limit and inserting are one step: until the caller commits, nobody else counts this customer's
 * records or uploads.
 * @throws ServiceError concurrency_limit_exceeded if the customer has reached its limit of accepted and processing
 * records
 */
export async function requireRecordSlot(tx: Tx, customerId: string): Promise<void> {
  const { activeRecordsMax } = await lockCustomer(tx, customerId);
  const where = { customerId, status: { in: [...RECORD_STATES.open] } };
  const active = (await tx.render.count({ where })) + (await tx.preparation.count({ where }));
  if (active < activeRecordsMax) return;
  const detail = `At most ${activeRecordsMax} renders and preparations may be unfinished at once; wait for one to finish, or cancel a render.`;
  throw new ServiceError('concurrency_limit_exceeded', { detail });
}

/**
 * The same for uploads.
 * @throws ServiceError concurrency_limit_exceeded if the customer has reached its limit of uploads that wait for their
 * bytes
 */
export async function requireUploadSlot(tx: Tx, customerId: string, now: Date): Promise<void> {
  const { openUploadsMax } = await lockCustomer(tx, customerId);
  const where = { customerId, status: 'awaiting_upload', expiresAt: { gt: now } };
  if ((await tx.upload.count({ where })) < openUploadsMax) return;
  const detail = `At most ${openUploadsMax} uploads may wait for their bytes at once; complete one, or let one expire.`;
  throw new ServiceError('concurrency_limit_exceeded', { detail });
}

/** Locks the customer's row. What is counted after this includes what was committed while the lock was waited for. */
async function lockCustomer(tx: Tx, customerId: string): Promise<CustomerLimits> {
  await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
  return customerLimits(await tx.customer.findUniqueOrThrow({ where: { id: customerId } }));
}
