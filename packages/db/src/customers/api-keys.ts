import { type CustomerLimits, type CustomerRow } from '@lipsync/domain';
import { type ApiKey } from '@lipsync/prisma';
import { type Db } from '../postgres/db';
import { run } from '../postgres/statement';

/** A key without its hash, which never leaves this module. */
export type ApiKeySummary = Omit<ApiKey, 'hash'>;

export interface KeyOwner {
  keyId: string;
  customer: CustomerLimitsRow;
}

type CustomerLimitsRow = Pick<CustomerRow, 'id' | keyof CustomerLimits>;

const FIND_API_KEY = {
  name: 'find_api_key',
  text: `
    SELECT key.id AS "keyId", customer.id, post_per_minute AS "postPerMinute",
      get_per_minute AS "getPerMinute", active_records_max AS "activeRecordsMax",
      running_jobs_max AS "runningJobsMax", open_uploads_max AS "openUploadsMax"
    FROM api_keys AS key JOIN customers AS customer ON customer.id = key.customer_id
    WHERE key.hash = $1 AND key.revoked_at IS NULL`,
};

const USE_RESOLUTION_SECONDS = 60;

/** Stores a new key as its SHA-256 (hex). Returns null if the customer does not exist. */
export async function issueKey(
  db: Db,
  key: { customerId: string; hash: string; lastFour: string },
): Promise<ApiKeySummary | null> {
  const customer = await db.prisma.customer.findUnique({ where: { id: key.customerId } });
  if (customer === null) return null;
  return db.prisma.apiKey.create({ data: { id: db.newId('key'), ...key }, omit: { hash: true } });
}

/** The owner of the key with this hash; null for an unknown and a revoked key alike. */
export async function findApiKey(db: Db, hash: string): Promise<KeyOwner | null> {
  const [found] = await run<CustomerLimitsRow & { keyId: string }>(db, FIND_API_KEY, [hash]);
  if (found === undefined) return null;
  const { keyId, ...customer } = found;
  return { keyId, customer };
}

/** Records that the key was used, at most once a minute. */
export async function touchApiKey(db: Db, keyId: string): Promise<void> {
  await db.prisma.$executeRaw`
    UPDATE api_keys SET last_used_at = now()
    WHERE id = ${keyId}
      AND (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => ${USE_RESOLUTION_SECONDS}::int))`;
}

/** Oldest first, including revoked keys. */
export function listKeys(db: Db, customerId: string): Promise<ApiKeySummary[]> {
  return db.prisma.apiKey.findMany({
    where: { customerId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    omit: { hash: true },
  });
}

/** Returns false if the key does not exist or was already revoked. */
export async function revokeKey(db: Db, keyId: string): Promise<boolean> {
  return (
    (await db.prisma.$executeRaw`
    UPDATE api_keys SET revoked_at = now() WHERE id = ${keyId} AND revoked_at IS NULL`) === 1
  );
}
