import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type StackCustomer, type StackState } from './state';

/** Secrets that no log and no response may contain, by readable names. */
export function secretsOf(
  { masterKey, servers, s3, signing }: StackState,
  customers: readonly StackCustomer[],
): Record<string, string> {
  return {
    'the master key': masterKey,
    "the database's password": new URL(servers.postgresUrl).password,
    "the store's key": s3.secretAccessKey,
    ...(signing && { 'the key that signs outputs': signing.key }),
    ...Object.fromEntries(
      customers.flatMap(({ id, api_key, signing_secret }) => [
        [`the API key of ${id}`, api_key],
        [`the signing secret of ${id}`, signing_secret],
      ]),
    ),
  };
}

/** The names of the secrets that a text contains. */
export function leaksIn(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    secret !== '' && text.includes(secret) ? [name] : [],
  );
}

/** Which log files of a stack contain which secrets, in words. */
export function leaksInLogs(logsDir: string, secrets: Readonly<Record<string, string>>): string[] {
  return readdirSync(logsDir).flatMap((file) =>
    leaksIn(readFileSync(path.join(logsDir, file), 'utf8'), secrets).map(
      (name) => `${file} contains ${name}`,
    ),
  );
}
