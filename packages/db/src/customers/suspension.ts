import { type CustomerState } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { type Act, recordAct } from '../audit/audit-log';
import { type Db, transaction } from '../postgres/db';
import { GIVE_UP } from '../webhooks/webhook-events';

/** SQL: the customers whose deliveries wait. An index holds them, of which there are few. */
export const HELD_CUSTOMERS = `SELECT id FROM customers WHERE state <> 'active'`;

/**
 * Suspends a customer or resumes it: from the commit on its keys are refused or accepted, and its webhook deliveries
 * wait or continue. What was created before is visible when this returns, and nothing is created after. Returns the
 * previous state; null if there is no such customer. Throws for one that is being erased, which is final.
 */
export function setCustomerState(
  db: Db,
  act: Act,
  customerId: string,
  state: CustomerState,
): Promise<string | null> {
  return transaction(db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
    const before = await tx.customer.findUnique({ where: { id: customerId } });
    if (before === null) return null;
    if (before.state === state) return state;
    if (before.state === 'erasing') throw new Error(`${customerId} is being erased, which cannot be undone`);
    await tx.customer.update({ where: { id: customerId }, data: { state } });
    await recordAct(db, tx, act, { customerId, details: { state } });
    return before.state;
  });
}

/**
 * Gives up every pending delivery of a customer that is not active, also what an attempt under way may still report. Each
 * counts as failed, so that it can be redelivered. Returns how many.
 */
export function dropDeliveries(db: Db, act: Act, customerId: string): Promise<number> {
  return transaction(db, async (tx) => {
    const dropped = await tx.$executeRaw`
      UPDATE webhook_deliveries SET ${GIVE_UP}
      WHERE customer_id = ${customerId} AND status = 'pending' AND customer_id IN (${Prisma.raw(HELD_CUSTOMERS)})`;
    if (dropped > 0) await recordAct(db, tx, act, { customerId, details: { deliveries_dropped: dropped } });
    return dropped;
  });
}
