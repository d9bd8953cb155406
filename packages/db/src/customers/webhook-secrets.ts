import { type Act, recordAct } from '../audit/audit-log';
import { databaseNow, type Db, secondsAfter, transaction } from '../postgres/db';

/**
 * Makes `ciphertext` the signing secret `activeInSeconds` from now (immediately if omitted). The current secret signs
 * until then. A secret that is scheduled but not yet active is dropped, so there is never more than one next secret.
 * @returns when the new secret becomes active
 */
export function rotateSecret(
  db: Db,
  act: Act,
  customerId: string,
  ciphertext: Uint8Array<ArrayBuffer>,
  activeInSeconds = 0,
): Promise<Date> {
  return transaction(db, async (tx) => {
    // Two concurrent rotations must not leave two active secrets.
    await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
    const now = await databaseNow(tx);
    const activeFrom = secondsAfter(now, activeInSeconds);
    await tx.$executeRaw`
      UPDATE webhook_secrets
      SET retired_at = CASE WHEN active_from > ${now}::timestamptz THEN ${now}::timestamptz ELSE ${activeFrom}::timestamptz END
      WHERE customer_id = ${customerId} AND (retired_at IS NULL OR retired_at > ${now}::timestamptz)`;
    const id = db.newId('sec');
    await tx.webhookSecret.create({ data: { id, customerId, ciphertext, createdAt: now, activeFrom } });
    const details = { active_from: activeFrom.toISOString() };
    await recordAct(db, tx, act, { customerId, subjectId: id, details });
    return activeFrom;
  });
}

/** The ciphertext of the secret that signs now, as a claim of deliveries finds it. Null for an unknown customer. */
export async function getSecret(db: Db, customerId: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const now = await databaseNow(db.prisma);
  const secret = await db.prisma.webhookSecret.findFirst({
    where: {
      customerId,
      AND: [
        { OR: [{ activeFrom: null }, { activeFrom: { lte: now } }] },
        { OR: [{ retiredAt: null }, { retiredAt: { gt: now } }] },
      ],
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  return secret?.ciphertext ?? null;
}

/** A stored secret of any customer, in use or retired. */
interface StoredSecret {
  readonly id: string;
  readonly customerId: string;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
}

/** All secrets, in pages. Pass the last id of one page as `afterId` of the next. */
export function listSecrets(db: Db, options: { afterId: string; limit: number }): Promise<StoredSecret[]> {
  return db.prisma.webhookSecret.findMany({
    where: { id: { gt: options.afterId } },
    orderBy: { id: 'asc' },
    take: options.limit,
    select: { id: true, customerId: true, ciphertext: true },
  });
}

/**
 * Replaces the ciphertext of a secret with another ciphertext of the same secret. Returns false if it was replaced
 * concurrently.
 */
export function replaceCiphertext(
  db: Db,
  act: Act,
  { id, customerId, ciphertext }: StoredSecret,
  replacement: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const { count } = await tx.webhookSecret.updateMany({
      where: { id, ciphertext },
      data: { ciphertext: replacement },
    });
    if (count === 1) await recordAct(db, tx, act, { customerId, subjectId: id });
    return count === 1;
  });
}
