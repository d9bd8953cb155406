import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

/** The lock that Prisma's own `migrate deploy` takes, so that the two exclude each other. */
const ADVISORY_LOCK = 72707369;
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

/** A migration that cannot be applied: it failed before, was edited after it was applied, or its SQL is refused. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

export interface MigrationReport {
  /** Names of the migrations that this call applied, in order. */
  applied: string[];
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface AppliedRow {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/**
 * Applies the pending migrations in order, as `prisma migrate deploy` would (same lock, table and checksums), over
 * plain `pg`. Safe to call from several processes at once. Throws MigrationError; what came before it stays applied.
 */
export async function migrate(
  connectionString: string,
  directory: string = migrationsDirectory(),
): Promise<MigrationReport> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(BOOKKEEPING);
    const applied: string[] = [];
    const known = await appliedMigrations(client);
    for (const migration of readMigrations(directory)) {
      if (isApplied(migration, known.get(migration.name))) continue;
      await apply(client, migration);
      applied.push(migration.name);
    }
    return { applied };
  } finally {
    await client.end();
  }
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

async function appliedMigrations(client: Client): Promise<Map<string, AppliedRow>> {
  const { rows } = await client.query<AppliedRow>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row]));
}

function isApplied(migration: Migration, row: AppliedRow | undefined): boolean {
  if (row === undefined) return false;
  if (row.finished_at === null) throw new MigrationError(`${migration.name} failed before; resolve it first`);
  if (row.checksum !== migration.checksum)
    throw new MigrationError(`${migration.name} was edited after it was applied`);
  return true;
}

/** The row is written before the SQL runs, so that a failure is on record and blocks the next deployment. */
async function apply(client: Client, { name, sql, checksum }: Migration): Promise<void> {
  const id = randomUUID();
  await client.query('INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    checksum,
    name,
  ]);
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    await client.query('UPDATE "_prisma_migrations" SET logs = $2 WHERE id = $1', [id, String(error)]);
    throw new MigrationError(`${name}: ${String(error)}`, { cause: error });
  }
  await client.query(
    'UPDATE "_prisma_migrations" SET finished_at = now(), applied_steps_count = 1 WHERE id = $1',
    [id],
  );
}
