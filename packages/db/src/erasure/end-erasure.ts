import { type Act, recordAct } from '../audit/audit-log';
import { type Db, transaction } from '../postgres/db';
import {
  assetsOf,
  countCustomersRows,
  type ErasureSubject,
  preparationsOf,
  rendersOf,
  uploadsOf,
} from './subject';

/**
 * How many rows of the subject each table still has; empty if it is erased. The row of a customer, which says that it is
 * being erased, is not among them.
 */
export async function findLeftRows(db: Db, subject: ErasureSubject): Promise<Record<string, number>> {
  const { kind, id, customerId } = subject;
  if (kind === 'customer') {
    const counts = Object.entries(await countCustomersRows(db, customerId));
    return Object.fromEntries(counts.filter(([table]) => table !== 'customers'));
  }
  const { prisma } = db;
  const counts = {
    renders: await prisma.render.count({ where: rendersOf(subject) }),
    // An asset has none: they are deleted in one transaction with its renders.
    engine_runs: await prisma.engineRun.count({ where: { renderId: id } }),
    webhook_events: await prisma.webhookEvent.count({ where: { renderId: id } }),
    preparations: await prisma.preparation.count({ where: preparationsOf(subject) }),
    assets: await prisma.asset.count({ where: assetsOf(subject) }),
    uploads: await prisma.upload.count({ where: uploadsOf(subject) }),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, rows]) => rows > 0));
}

/** Deletes the last row, that of the customer, and records the end of the erasure, unless an earlier call has. */
export function endErasure(
  db: Db,
  { kind, id, customerId }: ErasureSubject,
  act: Act,
  details: Readonly<Record<string, number>>,
): Promise<void> {
  return transaction(db, async (tx) => {
    if (kind === 'customer' && (await tx.customer.deleteMany({ where: { id } })).count === 0) return;
    const subjectId = kind === 'customer' ? null : id;
    await recordAct(db, tx, act, { customerId, subjectId, details: { ...details, erased: true } });
  });
}
