import { randomBytes } from 'node:crypto';
import {
  type ApiKeySummary,
  createCustomer,
  type Db,
  getSecret,
  issueKey,
  type LimitChanges,
  rotateSecret,
} from '@lipsync/db';
import { type CustomerRow, formatApiKey, hashApiKey, lastFourOf } from '@lipsync/domain';
import type { SecretBox } from '@lipsync/runtime';

/** The dependencies of admin commands: the database, and the box that seals webhook secrets. */
export interface AdminContext {
  db: Db;
  secretBox: SecretBox;
}

const SECRET_BYTES = 32;

/** Creates a customer with a new signing secret, which is shown only once. Throws if nobody could see the name. */
export async function newCustomer(
  { db, secretBox }: AdminContext,
  name: string,
  limits: LimitChanges = {},
): Promise<{ customer: CustomerRow; signingSecret: string }> {
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(name))
    throw new Error('the name of a customer needs at least one visible character');
  const signingSecret = randomBytes(SECRET_BYTES).toString('hex');
  const customer = await createCustomer(db, {
    name,
    limits,
    sealSecret: (id) => secretBox.seal(signingSecret, id),
  });
  return { customer, signingSecret };
}

/**
 * Creates a key, which is shown only once, because only its hash is stored. Returns null if the customer does not
 * exist.
 */
export async function newKey(
  { db }: AdminContext,
  customerId: string,
): Promise<{ apiKey: string; summary: ApiKeySummary } | null> {
  const apiKey = formatApiKey(randomBytes(SECRET_BYTES));
  const summary = await issueKey(db, { customerId, hash: hashApiKey(apiKey), lastFour: lastFourOf(apiKey) });
  return summary && { apiKey, summary };
}

/**
 * Replaces the signing secret: from `activeFrom` on every attempt, including retries, is signed with the new one.
 * Returns null if the customer does not exist.
 */
export async function newSecret(
  { db, secretBox }: AdminContext,
  customerId: string,
  activeInSeconds = 0,
): Promise<{ signingSecret: string; activeFrom: Date } | null> {
  if ((await getSecret(db, customerId)) === null) return null;
  const signingSecret = randomBytes(SECRET_BYTES).toString('hex');
  const sealed = secretBox.seal(signingSecret, customerId);
  return { signingSecret, activeFrom: await rotateSecret(db, customerId, sealed, activeInSeconds) };
}
