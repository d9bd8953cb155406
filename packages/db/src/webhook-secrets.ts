import { transaction, type Db } from './db';

/** Makes `ciphertext` the signing secret from now on and retires the previous one. Returns its id. */
export async function rotateSecret(
  db: Db,
  customerId: string,
  ciphertext: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const id = db.newId('sec');
  await transaction(db, async (tx) => {
    // Two rotations at once must not leave two active secrets.
    await tx.$queryRaw`SELECT id FROM customers WHERE id = ${customerId} FOR UPDATE`;
    await tx.$executeRaw`UPDATE webhook_secrets SET retired_at = now() WHERE customer_id = ${customerId} AND retired_at IS NULL`;
    await tx.webhookSecret.create({ data: { id, customerId, ciphertext } });
  });
  return id;
}

/** The ciphertext of the customer's signing secret; null for an unknown customer. */
export async function getSecret(db: Db, customerId: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const secret = await db.prisma.webhookSecret.findFirst({
    where: { customerId, retiredAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  return secret?.ciphertext ?? null;
}

/** A secret as it is stored, of whichever customer, in use or retired. */
export interface StoredSecret {
  readonly id: string;
  readonly customerId: string;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
}

/** All of them, in pages: the next begins behind the id that the last ended with. */
export function listSecrets(db: Db, options: { afterId: string; limit: number }): Promise<StoredSecret[]> {
  return db.prisma.webhookSecret.findMany({
    where: { id: { gt: options.afterId } },
    orderBy: { id: 'asc' },
    take: options.limit,
    select: { id: true, customerId: true, ciphertext: true },
  });
}

/** Puts another ciphertext of the same secret in its place; false when it was replaced by somebody else meanwhile. */
export async function replaceCiphertext(
  db: Db,
  { id, ciphertext }: StoredSecret,
  replacement: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { count } = await db.prisma.webhookSecret.updateMany({
    where: { id, ciphertext },
    data: { ciphertext: replacement },
  });
  return count === 1;
}
