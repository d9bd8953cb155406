import { type CustomerLimits, type CustomerRow } from '@lipsync/domain';
import { type Act, recordAct } from '../audit/audit-log';
import { type Db, transaction } from '../postgres/db';

/** null resets a limit to the service's default; an omitted limit stays unchanged. */
export type LimitChanges = { [K in keyof CustomerLimits]?: number | null };

interface NewCustomer {
  name: string;
  limits?: LimitChanges;
  /** Encrypts a new webhook signing secret for the customer with this id. Every customer has one. */
  sealSecret: (customerId: string) => Uint8Array<ArrayBuffer>;
}

export async function createCustomer(db: Db, act: Act, customer: NewCustomer): Promise<CustomerRow> {
  const id = db.newId('cus');
  return transaction(db, async (tx) => {
    const row = await tx.customer.create({ data: { id, name: customer.name, ...customer.limits } });
    await tx.webhookSecret.create({
      data: { id: db.newId('sec'), customerId: id, ciphertext: customer.sealSecret(id) },
    });
    await recordAct(db, tx, act, { customerId: id, details: detailsOf(customer.limits ?? {}) });
    return row;
  });
}

/** Oldest first. */
export function listCustomers(db: Db): Promise<CustomerRow[]> {
  return db.prisma.customer.findMany({ orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
}

export async function hasCustomer(db: Db, customerId: string): Promise<boolean> {
  return (await db.prisma.customer.count({ where: { id: customerId } })) > 0;
}

/** Returns null if the customer does not exist. */
export function setLimits(
  db: Db,
  act: Act,
  customerId: string,
  limits: LimitChanges,
): Promise<CustomerRow | null> {
  return transaction(db, async (tx) => {
    const [row] = await tx.customer.updateManyAndReturn({ where: { id: customerId }, data: limits });
    if (row === undefined) return null;
    await recordAct(db, tx, act, { customerId, details: detailsOf(limits) });
    return row;
  });
}

/** As the columns are named. */
function detailsOf(limits: LimitChanges): Record<string, number | null> {
  const named = Object.entries(limits).map(([limit, value]) => [
    limit.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(named) as Record<string, number | null>;
}
