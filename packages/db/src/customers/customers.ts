import { type CustomerLimits, type CustomerRow } from '@lipsync/domain';
import { type ApiKey } from '@lipsync/prisma';
import { databaseNow, type Db, run, secondsAfter, transaction } from '../postgres/db';

/** null resets a limit to the service's default; an omitted limit stays unchanged. */
export type LimitChanges = { [K in keyof CustomerLimits]?: number | null };

interface NewCustomer {
  name: string;
  limits?: LimitChanges;
  /** Encrypts a new webhook signing secret for the customer with this id. Every customer has one. */
  sealSecret: (customerId: string) => Uint8Array<ArrayBuffer>;
}

export async function createCustomer(db: Db, customer: NewCustomer): Promise<CustomerRow> {
  const id = db.newId('cus');
  return transaction(db, async (tx) => {
    const row = await tx.customer.create({ data: { id, name: customer.name, ...customer.limits } });
    await tx.webhookSecret.create({
      data: { id: db.newId('sec'), customerId: id, ciphertext: customer.sealSecret(id) },
    });
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
export async function setLimits(
  db: Db,
  customerId: string,
  limits: LimitChanges,
): Promise<CustomerRow | null> {
  const [row] = await db.prisma.customer.updateManyAndReturn({ where: { id: customerId }, data: limits });
  return row ?? null;
}

/** A key without its hash, which never leaves this module. */
export type ApiKeySummary = Omit<ApiKey, 'hash'>;

/** A customer with its own limits, and the key that it was found by. */
type KeyOwner = Pick<CustomerRow, 'id' | keyof CustomerLimits> & { keyId: string };

const FIND_API_KEY = {
  name: 'find_api_key',
  text: `
    SELECT key.id AS "keyId", customer.id, post_per_minute AS "postPerMinute",
      get_per_minute AS "getPerMinute", active_records_max AS "activeRecordsMax",
      running_jobs_max AS "runningJobsMax", open_uploads_max AS "openUploadsMax"
    FROM api_keys AS key JOIN customers AS customer ON customer.id = key.customer_id
    WHERE key.hash = $1 AND key.revoked_at IS NULL AND customer.state = 'active'`,
};

/** Stores a new key as its SHA-256 (hex). Returns null if the customer does not exist. */
export async function issueKey(
  db: Db,
  key: { customerId: string; hash: string; lastFour: string },
): Promise<ApiKeySummary | null> {
  const customer = await db.prisma.customer.findUnique({ where: { id: key.customerId } });
  if (customer === null) return null;
  return db.prisma.apiKey.create({ data: { id: db.newId('key'), ...key }, omit: { hash: true } });
}

/** The owner of the key with this hash; null alike for an unknown key, a revoked one, and one of a suspended customer. */
export async function findApiKey(db: Db, hash: string): Promise<KeyOwner | null> {
  const [owner] = await run<KeyOwner>(db, FIND_API_KEY, [hash]);
  return owner ?? null;
}

/** Records that the key was used. */
export async function touchApiKey(db: Db, keyId: string): Promise<void> {
  await db.prisma.$executeRaw`UPDATE api_keys SET last_used_at = now() WHERE id = ${keyId}`;
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

/**
 * Makes `ciphertext` the signing secret `activeInSeconds` from now (immediately if omitted). The current secret signs
 * until then. A secret that is scheduled but not yet active is dropped, so there is never more than one next secret.
 * @returns when the new secret becomes active
 */
export function rotateSecret(
  db: Db,
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
