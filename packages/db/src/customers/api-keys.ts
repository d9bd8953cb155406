import { type CustomerLimits, type CustomerRow } from '@lipsync/domain';
import { type ApiKey } from '@lipsync/prisma';
import { type Act, recordAct } from '../audit/audit-log';
import { databaseNow, type Db, run, secondsAfter, transaction } from '../postgres/db';

/** A key without its hash, which never leaves this module. */
export type ApiKeySummary = Omit<ApiKey, 'hash'>;

/** A customer with its own limits, and the key that it was found by. */
interface KeyOwner extends Pick<CustomerRow, 'id' | keyof CustomerLimits> {
  keyId: string;
  /** Whether its last recorded use is old enough to record a new one: see `touchApiKey`. */
  useIsStale: boolean;
}

/** How exactly the last use of a key is kept: one write in this time, however many requests and processes. */
const USE_RESOLUTION = '1 hour';

const FIND_API_KEY = {
  name: 'find_api_key',
  text: `
    SELECT key.id AS "keyId", customer.id, post_per_minute AS "postPerMinute",
      get_per_minute AS "getPerMinute", active_records_max AS "activeRecordsMax",
      running_jobs_max AS "runningJobsMax", open_uploads_max AS "openUploadsMax",
      last_used_at IS NULL OR last_used_at <= statement_timestamp() - interval '${USE_RESOLUTION}' AS "useIsStale"
    FROM api_keys AS key JOIN customers AS customer ON customer.id = key.customer_id
    WHERE key.hash = $1 AND key.revoked_at IS NULL
      AND (key.expires_at IS NULL OR key.expires_at > statement_timestamp()) AND customer.state = 'active'`,
};

/** A key, as its SHA-256 (hex), with what is stored about it. */
interface NewKey {
  customerId: string;
  hash: string;
  lastFour: string;
  /** What it is for. */
  name?: string | undefined;
  /** Seconds from now after which it is refused; if omitted, it does not expire. */
  endsInSeconds?: number | undefined;
}

/** Stores a new key, issued by the actor. Returns null if the customer does not exist. */
export function issueKey(db: Db, act: Act, key: NewKey): Promise<ApiKeySummary | null> {
  const { endsInSeconds, name = null, ...columns } = key;
  const { customerId } = columns;
  return transaction(db, async (tx) => {
    if ((await tx.customer.count({ where: { id: customerId } })) === 0) return null;
    const now = await databaseNow(tx);
    const expiresAt = endsInSeconds === undefined ? null : secondsAfter(now, endsInSeconds);
    const id = db.newId('key');
    const data = { ...columns, id, name, issuedBy: act.actor, createdAt: now, expiresAt };
    const issued = await tx.apiKey.create({ data, omit: { hash: true } });
    const details = { expires_at: expiresAt?.toISOString() ?? null };
    await recordAct(db, tx, act, { customerId, subjectId: id, details });
    return issued;
  });
}

/** The owner of the key with this hash; null alike for an unknown key, a revoked or ended one, and a suspended customer's. */
export async function findApiKey(db: Db, hash: string): Promise<KeyOwner | null> {
  const [owner] = await run<KeyOwner>(db, FIND_API_KEY, [hash]);
  return owner ?? null;
}

/** Records that the key was used, unless that is on record already. */
export async function touchApiKey(db: Db, keyId: string): Promise<void> {
  await db.prisma.$executeRaw`
    UPDATE api_keys SET last_used_at = statement_timestamp()
    WHERE id = ${keyId}
      AND (last_used_at IS NULL OR last_used_at <= statement_timestamp() - ${USE_RESOLUTION}::interval)`;
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
export function revokeKey(db: Db, act: Act, keyId: string): Promise<boolean> {
  return transaction(db, async (tx) => {
    const [revoked] = await tx.$queryRaw<{ customerId: string }[]>`
      UPDATE api_keys SET revoked_at = now() WHERE id = ${keyId} AND revoked_at IS NULL
      RETURNING customer_id AS "customerId"`;
    if (revoked === undefined) return false;
    await recordAct(db, tx, act, { ...revoked, subjectId: keyId });
    return true;
  });
}
