import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { grantRoles } from './grants';

/** The lock that Prisma's own `migrate deploy` takes, so that the two exclude each other. */
const ADVISORY_LOCK = 72707369;
const LOCK_POLL_MS = 200;
/**
 * How long a migration waits for a table that somebody reads, because later requests wait behind it. Then it lets them
 * pass, and asks again.
 */
const TABLE_WAIT = '500ms';
const TABLE_PAUSE_MS = 4_500;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';
/** How soon the server ends what a process that is gone has left in a statement, and the locks with it. */
const CLIENT_CHECK = '1s';
/** The first line of a migration that cannot run in a transaction. Prisma's own tool knows no such line. */
const WITHOUT_TRANSACTION = '-- without transaction\n';
/** Prisma's bookkeeping table, column for column: either tool continues where the other stopped. */
const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/** What cannot be migrated: a migration was edited after it was applied, or its SQL fails, or a pooler is in between. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

interface MigrationReport {
  /** Names of the migrations that this call applied, in order. */
  applied: string[];
  /** The services' roles that have their rights. */
  granted: string[];
}

interface MigrateOptions {
  /** Where the migrations are; by default those of this version. */
  readonly directory?: string;
  /** Told of every migration that is begun. */
  readonly onApply?: (name: string) => void;
  /** Told whenever one has not got the table that it changes, and waits to ask again. */
  readonly onTableBusy?: (name: string) => void;
  /** How long it waits then. */
  readonly tablePauseMs?: number;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/**
 * Applies the pending migrations in order, as `prisma migrate deploy` would (same lock, table and checksums), over
 * plain `pg`. Then grants the services' roles their rights. Safe to call from several processes at once, and again after
 * any failure. Waits as long as it must for tables that are in use, without standing in anybody's way. Throws
 * MigrationError; what came before it stays applied.
 */
export async function migrate(
  connectionString: string,
  options: MigrateOptions = {},
): Promise<MigrationReport> {
  const client = new Client({ connectionString, fallback_application_name: 'migrate' });
  let announcedPid: number | undefined;
  client.connection.once('backendKeyData', (key: { processID: number }) => (announcedPid = key.processID));
  // A connection that is lost fails the statement under way, which tells of it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await refusePooler(client, announcedPid);
    // What a role or database has set for requests would cancel the index of a large table at every attempt.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    await client.query(`SET client_connection_check_interval = '${CLIENT_CHECK}'`);
    await takeLock(client);
    await client.query(BOOKKEEPING);
    const applied: string[] = [];
    const known = await appliedMigrations(client);
    for (const migration of readMigrations(options.directory ?? migrationsDirectory())) {
      if (isApplied(migration, known.get(migration.name))) continue;
      options.onApply?.(migration.name);
      await apply(client, migration, options);
      applied.push(migration.name);
    }
    return { applied, granted: await grantRoles(client) };
  } finally {
    await client.end();
  }
}

/**
 * A pooler tells every client an id of its own. Behind one, the migration would take its lock in one session and continue
 * in others, and whoever got that session next would hold the lock. Refused before anything is locked.
 */
async function refusePooler(client: Client, announcedPid: number | undefined): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  if (rows[0]?.pid === announcedPid) return;
  throw new MigrationError(
    'a connection pooler is in between, and a migration must keep its session: give it the address of Postgres itself ' +
      '(DATABASE_URL of this command; secrets.keys.migrationDatabaseUrl in the chart)',
  );
}

/** Identifies the set of migrations: changes whenever a database made from them would. */
export function migrationsDigest(directory: string = migrationsDirectory()): string {
  const hash = createHash('sha256');
  for (const { name, checksum } of readMigrations(directory)) hash.update(`${name} ${checksum}\n`);
  return hash.digest('hex');
}

/** Next to this file in the sources, one level up from `dist`. */
function migrationsDirectory(): string {
  const candidates = [join(__dirname, 'migrations'), join(__dirname, '..', 'migrations')];
  const found = candidates.find((candidate) => existsSync(join(candidate, 'migration_lock.toml')));
  if (found === undefined) throw new MigrationError(`no migrations found in ${candidates.join(' or ')}`);
  return found;
}

function readMigrations(directory: string): Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{14}_/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/**
 * Asks again and again: who waits for a lock inside a statement holds a snapshot, and CREATE INDEX CONCURRENTLY under the
 * lock waits until there is no older one, so each would wait for the other.
 */
async function takeLock(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    await delay(LOCK_POLL_MS);
  }
}

/** Checksums by name. An unfinished row counts for nothing: who wrote it ran the SQL in a transaction of its own. */
async function appliedMigrations(client: Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    `SELECT migration_name, checksum FROM "_prisma_migrations"
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

function isApplied({ name, checksum }: Migration, applied: string | undefined): boolean {
  if (applied !== undefined && applied !== checksum)
    throw new MigrationError(`${name} was edited after it was applied`);
  return applied !== undefined;
}

/**
 * The SQL and its row are one transaction, so that a failure leaves nothing and a repeat is safe. What cannot run in one
 * goes before it, statement by statement, and must bear to be run again.
 */
async function apply(client: Client, migration: Migration, options: MigrateOptions): Promise<void> {
  const { name, sql } = migration;
  const goesBefore = sql.startsWith(WITHOUT_TRANSACTION);
  try {
    if (goesBefore) for (const statement of statementsOf(sql)) await client.query(statement);
    while (!(await hasItsTables(inTransaction(client, migration, goesBefore ? '' : sql)))) {
      await client.query('ROLLBACK');
      options.onTableBusy?.(name);
      await delay(options.tablePauseMs ?? TABLE_PAUSE_MS);
    }
  } catch (error) {
    // Whoever called ends the connection now, which rolls back.
    throw new MigrationError(`${name}: ${String(error)}`, { cause: error });
  }
}

async function inTransaction(client: Client, migration: Migration, sql: string): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = '${TABLE_WAIT}'`);
  await client.query(sql);
  await record(client, migration);
  await client.query('COMMIT');
}

/** False when it did not get one of them in time. */
async function hasItsTables(applying: Promise<void>): Promise<boolean> {
  try {
    await applying;
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/** Several statements in one message would be a transaction. Each ends with a semicolon at the end of a line. */
function statementsOf(sql: string): string[] {
  return sql.split(/;\s*$/m).filter((statement) => statement.trim() !== '');
}

/** What an attempt that came to nothing left on record is closed as Prisma's `migrate resolve --rolled-back` does. */
async function record(client: Client, { name, checksum }: Migration): Promise<void> {
  await client.query(
    `UPDATE "_prisma_migrations" SET rolled_back_at = now()
     WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [name],
  );
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}
