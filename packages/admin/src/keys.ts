import { type ApiKeySummary, listKeys, revokeKey } from '@lipsync/db';
import type { Command } from 'commander';
import type { Connection } from './connect';
import { newKey, newSecret } from './credentials';
import { duration } from './duration';
import { print, type Row } from './print';

interface JsonOption {
  json?: boolean;
}

/** Several keys may be active at once. To rotate, issue a new key, switch the caller over and revoke the old one. */
export function addKeyCommands(program: Command, connection: Connection): void {
  const keys = program.command('keys').description('API keys of a customer');

  keys
    .command('issue <customer-id>')
    .description('a new key, shown this once')
    .option('--json')
    .action((customerId: string, options: JsonOption) =>
      connection.withContext(async (context) => {
        const key = await newKey(context, customerId);
        if (key === null) throw new Error(`there is no customer ${customerId}`);
        print({ ...row(key.summary), api_key: key.apiKey }, options);
      }),
    );

  keys
    .command('list <customer-id>')
    .option('--json')
    .action((customerId: string, options: JsonOption) =>
      connection.withContext(async ({ db }) => print((await listKeys(db, customerId)).map(row), options)),
    );

  keys
    .command('revoke <key-id>')
    .description('refused from the next request on')
    .option('--json')
    .action((keyId: string, options: JsonOption) =>
      connection.withContext(async ({ db }) => {
        if (!(await revokeKey(db, keyId))) throw new Error(`there is no active key ${keyId}`);
        print({ id: keyId, revoked: true }, options);
      }),
    );
}

export function addSecretCommands(program: Command, connection: Connection): void {
  program
    .command('secrets')
    .description('webhook signing secrets')
    .command('rotate <customer-id>')
    .description(
      'a new secret, shown this once; it signs every attempt from its time on, the present one until then',
    )
    .option(
      '--active-in <duration>',
      'from when on it signs, as 30m, 24h or 7d; at once when left out',
      duration,
    )
    .option('--json')
    .action((customerId: string, { activeIn = 0, json }: JsonOption & { activeIn?: number }) =>
      connection.withContext(async (context) => {
        const secret = await newSecret(context, customerId, activeIn);
        if (secret === null) throw new Error(`there is no customer ${customerId}`);
        const { signingSecret, activeFrom } = secret;
        print({ customer_id: customerId, signing_secret: signingSecret, active_from: activeFrom }, { json });
      }),
    );
}

function row({ id, lastFour, createdAt, lastUsedAt, revokedAt }: ApiKeySummary): Row {
  return { id, ends_in: lastFour, created_at: createdAt, last_used_at: lastUsedAt, revoked_at: revokedAt };
}
