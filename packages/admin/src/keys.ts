import { listKeys, revokeKey, type ApiKeySummary } from '@lipsync/db';
import type { Command } from 'commander';
import type { Connection } from './connect';
import { newKey, newSecret } from './credentials';
import { print, type Row } from './print';

interface JsonOption {
  json?: boolean;
}

/** Several keys may be active at once: rotate by issuing one, moving the caller, revoking the other. */
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
    .description('a new secret, shown this once; it signs every attempt from now on')
    .option('--json')
    .action((customerId: string, options: JsonOption) =>
      connection.withContext(async (context) => {
        const signingSecret = await newSecret(context, customerId);
        if (signingSecret === null) throw new Error(`there is no customer ${customerId}`);
        print({ customer_id: customerId, signing_secret: signingSecret }, options);
      }),
    );
}

function row({ id, lastFour, createdAt, lastUsedAt, revokedAt }: ApiKeySummary): Row {
  return { id, ends_in: lastFour, created_at: createdAt, last_used_at: lastUsedAt, revoked_at: revokedAt };
}
