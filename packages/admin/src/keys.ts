import { randomBytes } from 'node:crypto';
import { type ApiKeySummary, getSecret, issueKey, listKeys, revokeKey, rotateSecret } from '@lipsync/db';
import { formatApiKey, hashApiKey, lastFourOf } from '@lipsync/domain';
import { type Command, InvalidArgumentError } from 'commander';
import { duration, print, type Row } from './command-line';
import type { Connection, DatabaseContext, SecretContext } from './connect';

const SECRET_BYTES = 32;

interface JsonOption {
  json?: boolean;
}

/** Several keys may be active at once. To rotate, issue a new key, switch the caller over and revoke the old one. */
export function addKeyCommands(program: Command, connection: Connection): void {
  const keys = program.command('keys').description('API keys of a customer');

  keys
    .command('issue <customer-id>')
    .description('issue a key, which is shown only once')
    .option('--name <text>', 'what it is for', keyName)
    .option('--expires <duration>', 'refuse it after this time, such as 90d (default: never)', lifetime)
    .option('--json')
    .action((customerId: string, options: IssueOptions) =>
      connection.withDatabase(async (context) => {
        const { name, expires: endsInSeconds } = options;
        const key = await newKey(context, customerId, { name, endsInSeconds });
        if (key === null) throw new Error(`there is no customer ${customerId}`);
        print({ ...row(key.summary), api_key: key.apiKey }, options);
      }),
    );

  keys
    .command('list <customer-id>')
    .description('its keys, with who issued each and when it was last used (to the hour)')
    .option('--json')
    .action((customerId: string, options: JsonOption) =>
      connection.withDatabase(async ({ db }) => print((await listKeys(db, customerId)).map(row), options)),
    );

  keys
    .command('revoke <key-id>')
    .description('refuse a key from the next request on')
    .option('--json')
    .action((keyId: string, options: JsonOption) =>
      connection.withDatabase(async ({ db, act }) => {
        if (!(await revokeKey(db, act, keyId))) throw new Error(`there is no active key ${keyId}`);
        print({ id: keyId, revoked: true }, options);
      }),
    );
}

interface IssueOptions extends JsonOption {
  name?: string;
  expires?: number;
}

const NAME_MAX = 100;

function keyName(value: string): string {
  const name = value.trim();
  if (name === '' || name.length > NAME_MAX)
    throw new InvalidArgumentError(`Expected a name of 1 to ${NAME_MAX} characters.`);
  return name;
}

function lifetime(value: string): number {
  const seconds = duration(value);
  if (seconds === 0) throw new InvalidArgumentError('Expected a duration longer than 0.');
  return seconds;
}

/**
 * Creates a key, which is shown only once, because only its hash is stored. Returns null if the customer does not
 * exist.
 */
export async function newKey(
  { db, act }: DatabaseContext,
  customerId: string,
  about: { name?: string | undefined; endsInSeconds?: number | undefined } = {},
): Promise<{ apiKey: string; summary: ApiKeySummary } | null> {
  const apiKey = formatApiKey(randomBytes(SECRET_BYTES));
  const key = { ...about, customerId, hash: hashApiKey(apiKey), lastFour: lastFourOf(apiKey) };
  const summary = await issueKey(db, act, key);
  return summary && { apiKey, summary };
}

function row(key: ApiKeySummary): Row {
  return {
    id: key.id,
    name: key.name,
    ends_in: key.lastFour,
    issued_by: key.issuedBy,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}

export function addSecretCommands(program: Command, connection: Connection): void {
  program
    .command('secrets')
    .description('webhook signing secrets')
    .command('rotate <customer-id>')
    .description(
      'create a new secret, which is shown only once; it signs every attempt once it is active, and until then the current one does',
    )
    .option(
      '--active-in <duration>',
      'when it becomes active, such as 30m, 24h or 7d from now (default: at once)',
      duration,
    )
    .option('--json')
    .action((customerId: string, { activeIn = 0, json }: JsonOption & { activeIn?: number }) =>
      connection.withSecretBox(async (context) => {
        const secret = await newSecret(context, customerId, activeIn);
        if (secret === null) throw new Error(`there is no customer ${customerId}`);
        const { signingSecret, activeFrom } = secret;
        print({ customer_id: customerId, signing_secret: signingSecret, active_from: activeFrom }, { json });
      }),
    );
}

/** In hex, as receivers hold it. */
export const newSigningSecret = (): string => randomBytes(SECRET_BYTES).toString('hex');

/**
 * Replaces the signing secret: from `activeFrom` on every attempt, including retries, is signed with the new one.
 * Returns null if the customer does not exist.
 */
async function newSecret(
  { db, secretBox, act }: SecretContext,
  customerId: string,
  activeInSeconds = 0,
): Promise<{ signingSecret: string; activeFrom: Date } | null> {
  if ((await getSecret(db, customerId)) === null) return null;
  const signingSecret = newSigningSecret();
  const sealed = secretBox.seal(signingSecret, customerId);
  return { signingSecret, activeFrom: await rotateSecret(db, act, customerId, sealed, activeInSeconds) };
}
