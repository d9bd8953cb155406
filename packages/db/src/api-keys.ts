import { type CustomerLimits, type CustomerRow } from '@lipsync/domain';
import { type ApiKey } from '@lipsync/prisma';
import { type Db } from './db';
import { run } from './statement';

/** A key as it may be shown: its hash stays here. */
export type ApiKeySummary = Omit<ApiKey, 'hash'>;

export interface KeyOwner {
  keyId: string;
  customer: CustomerLimitsRow;
}

type CustomerLimitsRow = Pick<CustomerRow, 'id' | keyof CustomerLimits>;

/** On every request, uncached: a key that was revoked a second ago is refused. */
const FIND_API_KEY = {
  name: 'find_api_key',
  text: `
    SELECT key.id AS "keyId", customer.id, post_per_minute AS "postPerMinute", get_per_minute AS "getPerMinute",
      active_records_max AS "activeRecordsMax", running_jobs_max AS "runningJobsMax",
      open_uploads_max AS "openUploadsMax"
    FROM api_keys AS key JOIN customers AS customer ON customer.id = key.customer_id
    WHERE key.hash = $1 AND key.revoked_at IS NULL`,
};

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
  const [row] = await run<KeyOwner['customer'] & { keyId: string }>(db, FIND_API_KEY, [hash]);
  if (row === undefined) return null;
  const { keyId, ...customer } = row;
  return { keyId, customer };
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
