import { createDb, type Db } from './db';

/** The settings of a process that configure its database. */
export interface DatabaseEnv {
  readonly DATABASE_URL: string;
  readonly DATABASE_POOL_MAX: number;
  readonly PUBLIC_BASE_URL: string;
}

/** Opens the database that the environment configures. Lost connections are logged to `logger`. */
export function openDb(
  env: DatabaseEnv,
  logger: { warn(message: string, fields: { error: Error }): void },
): Db {
  return createDb({
    url: env.DATABASE_URL,
    poolMax: env.DATABASE_POOL_MAX,
    publicBaseUrl: env.PUBLIC_BASE_URL,
    onConnectionError: (error) => logger.warn('database connection lost', { error }),
  });
}
