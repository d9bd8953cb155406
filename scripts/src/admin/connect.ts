import { createDb } from '@lipsync/db';
import { createSecretBox, environment, loadEnv } from '@lipsync/runtime';
import { DEFAULT_STACK_ROOT } from '../local-stack/layout';
import { backendEnvironment } from '../local-stack/services';
import { readState } from '../local-stack/state';
import type { AdminContext } from './credentials';

/**
 * Runs one command against the database that the environment names (DATABASE_URL, MASTER_KEY, PUBLIC_BASE_URL),
 * or against this machine's local stack when DATABASE_URL is not set.
 */
export async function withAdminContext<T>(action: (context: AdminContext) => Promise<T>): Promise<T> {
  const settings = loadEnv(
    environment.pick({ DATABASE_URL: true, MASTER_KEY: true, PUBLIC_BASE_URL: true }),
    operatorEnvironment(),
  );
  const db = createDb({ url: settings.DATABASE_URL, poolMax: 2, publicBaseUrl: settings.PUBLIC_BASE_URL });
  try {
    return await action({ db, secretBox: createSecretBox(settings.MASTER_KEY) });
  } finally {
    await db.close();
  }
}

/** What the commands are configured by: the environment, or the local stack's when it names no database. */
export function operatorEnvironment(): Readonly<Record<string, string | undefined>> {
  if (process.env['DATABASE_URL'] !== undefined) return process.env;
  const state = readState(DEFAULT_STACK_ROOT);
  if (state === null)
    throw new Error('DATABASE_URL is not set, and no local stack was ever up (npm run stack -- up)');
  return backendEnvironment(state);
}
