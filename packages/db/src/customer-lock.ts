import { type CustomerLimits, customerLimits, RECORD_STATES, ServiceError } from '@lipsync/domain';
import { type Tx } from './db';

/** Locks the customer's row, so that counting against a limit and inserting are one step. Returns its limits. */
async function lockCustomer(tx: Tx, customerId: string): Promise<CustomerLimits> {
  await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
  return customerLimits(await tx.customer.findUniqueOrThrow({ where: { id: customerId } }));
}

/** Throws concurrency_limit_exceeded when the customer has as many accepted and processing records as it may. */
export async function requireRecordSlot(tx: Tx, customerId: string): Promise<void> {
  const { activeRecordsMax } = await lockCustomer(tx, customerId);
  const open = { customerId, status: { in: [...RECORD_STATES.open] } };
  const active = (await tx.render.count({ where: open })) + (await tx.preparation.count({ where: open }));
  if (active >= activeRecordsMax) throw new ServiceError('concurrency_limit_exceeded');
}

/** Throws concurrency_limit_exceeded when the customer has as many uploads waiting for bytes as it may. */
export async function requireUploadSlot(tx: Tx, customerId: string, now: Date): Promise<void> {
  const { openUploadsMax } = await lockCustomer(tx, customerId);
  const where = { customerId, status: 'awaiting_upload', expiresAt: { gt: now } };
  if ((await tx.upload.count({ where })) >= openUploadsMax) {
    throw new ServiceError('concurrency_limit_exceeded');
  }
}
