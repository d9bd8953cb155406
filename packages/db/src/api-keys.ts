import { type CustomerRow } from '@lipsync/domain';
import { type ApiKey } from '@lipsync/prisma';
import { type Db } from './db';

/** A key as it may be shown: its hash stays here. */
export type ApiKeySummary = Omit<ApiKey, 'hash'>;

export interface KeyOwner {
  keyId: string;
  customer: CustomerRow;
}

const USE_RESOLUTION_SECONDS = 60;

/** Stores a new key by its SHA-256 (hex). Null when there is no such customer. */
export async function issueKey(
  db: Db,
  key: { customerId: string; hash: string; lastFour: string },
): Promise<ApiKeySummary | null> {
  const customer = await db.prisma.customer.findUnique({ where: { id: key.customerId } });
  if (customer === null) return null;
  return db.prisma.apiKey.create({ data: { id: db.newId('key'), ...key }, omit: { hash: true } });
}

/** Who owns the key with this hash; null for unknown and revoked keys alike. */
export async function findApiKey(db: Db, hash: string): Promise<KeyOwner | null> {
  const key = await db.prisma.apiKey.findUnique({ where: { hash } });
  if (key === null || key.revokedAt !== null) return null;
  const customer = await db.prisma.customer.findUnique({ where: { id: key.customerId } });
  return customer && { keyId: key.id, customer };
}

/** Notes that the key was used, at most once a minute. */
export async function touchApiKey(db: Db, keyId: string): Promise<void> {
  await db.prisma.$executeRaw`
    UPDATE api_keys SET last_used_at = now()
    WHERE id = ${keyId}
      AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => ${USE_RESOLUTION_SECONDS}::int))`;
}

/** Oldest first, revoked ones included. */
export function listKeys(db: Db, customerId: string): Promise<ApiKeySummary[]> {
  return db.prisma.apiKey.findMany({
    where: { customerId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    omit: { hash: true },
  });
}

/** False when there is no such key or it was revoked before. */
export async function revokeKey(db: Db, keyId: string): Promise<boolean> {
  return (
    (await db.prisma.$executeRaw`
    UPDATE api_keys SET revoked_at = now() WHERE id = ${keyId} AND revoked_at IS NULL`) === 1
  );
}
