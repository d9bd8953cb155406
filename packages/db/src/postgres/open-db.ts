import { createDb, type Db, STATEMENT_TIMEOUT_MS, TRANSACTION_TIMEOUT_MS } from './db';

/** The settings of a process that configure its database. */
interface DatabaseEnv {
  readonly DATABASE_URL: string;
  readonly DATABASE_POOL_MAX: number;
  readonly PUBLIC_BASE_URL: string;
}

interface Logger {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Far below what makes a dispatcher stop signing, and far above the difference that a slow answer can feign. */
const SKEW_MAX_MS = 5_000;

/** Opens the database that the environment configures. Lost connections are logged to `logger`. */
export function openDb(options: {
  service: string;
  env: DatabaseEnv;
  logger: Logger;
  customerScope?: boolean;
}): Db {
  const { service, env, logger, customerScope = false } = options;
  const db = createDb({
    url: env.DATABASE_URL,
    poolMax: env.DATABASE_POOL_MAX,
    publicBaseUrl: env.PUBLIC_BASE_URL,
    applicationName: service,
    customerScope,
    onConnectionError: (error) => logger.warn('database connection lost', { error }),
  });
  // A query that fails has its own line wherever it matters; this one only looks.
  db.pool.once('connect', () => void warnOfSession(db, logger).catch(() => undefined));
  return db;
}

const SESSION = `
  SELECT name, CASE WHEN unit = 'ms' THEN setting || 'ms' ELSE setting END AS value FROM pg_settings
  WHERE name IN ('jit', 'TimeZone', 'statement_timeout',
    'idle_in_transaction_session_timeout')
  UNION ALL SELECT 'now', extract(epoch FROM clock_timestamp())::text`;

const EXPECTED: Readonly<Record<string, string>> = {
  jit: 'off',
  TimeZone: 'UTC',
  statement_timeout: `${STATEMENT_TIMEOUT_MS}ms`,
  idle_in_transaction_session_timeout: `${TRANSACTION_TIMEOUT_MS}ms`,
};

/**
 * Logs a line if a session's settings are not those that this service asks for when it connects; a pooler may have been
 * told to ignore them. Logs another if the clocks differ.
 */
async function warnOfSession(db: Db, logger: Logger): Promise<void> {
  const startedAtMs = Date.now();
  const { rows } = await db.pool.query<{ name: string; value: string }>(SESSION);
  const found = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const settings = Object.entries(EXPECTED).filter(([name, value]) => found[name] !== value);
  if (settings.length > 0)
    logger.warn('database sessions are not set as they should be; is a pooler in between?', {
      found: Object.fromEntries(settings.map(([name]) => [name, found[name]])),
      expected: Object.fromEntries(settings),
    });
  const skewMs = Math.round((startedAtMs + Date.now()) / 2 - Number(found['now']) * 1000);
  if (Math.abs(skewMs) > SKEW_MAX_MS)
    logger.warn('the clock differs from that of the database', { skew_ms: skewMs });
}
