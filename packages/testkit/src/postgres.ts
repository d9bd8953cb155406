import { randomBytes } from 'node:crypto';
import { migrate, migrationsDigest } from '@lipsync/prisma';
import { Client } from 'pg';
import { POSTGRES_VARIABLE } from './test-run';

export interface TestDatabase {
  url: string;
  /** Deletes the database, cutting its remaining connections. */
  drop(): Promise<void>;
}

/** Serializes the creation of the template among all workers of the server. */
const TEMPLATE_LOCK = 727_001;

/** Creates a migrated, empty database: a clone of a template that is migrated once per run. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(async (admin) => `TEMPLATE ${await ensureTemplate(admin)} STRATEGY FILE_COPY`);
}

/** Creates a database without any table. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase(async () => '');
}

async function createDatabase(options: (admin: Client) => Promise<string>): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withAdmin(async (admin) => {
    await admin.query(`CREATE DATABASE ${name} ${await options(admin)}`);
  });
  const drop = (): Promise<void> =>
    withAdmin(async (admin) => {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
  return { url: databaseUrl(name), drop };
}

/** Cuts every connection of a test database, like a failover of the server. */
export async function cutConnections(database: TestDatabase): Promise<void> {
  await withAdmin(async (admin) => {
    const name = new URL(database.url).pathname.slice(1);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  });
}

/** Named after its migrations, so that runs can share a server and none gets an outdated template. */
async function ensureTemplate(admin: Client): Promise<string> {
  const template = `template_${migrationsDigest().slice(0, 16)}`;
  await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) await buildTemplate(admin, template);
  } finally {
    await admin.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
  return template;
}

/** Renamed when complete, so that nobody clones an incomplete template. */
async function buildTemplate(admin: Client, template: string): Promise<void> {
  const draft = `${template}_${randomBytes(4).toString('hex')}`;
  await admin.query(`CREATE DATABASE ${draft}`);
  await migrate(databaseUrl(draft));
  await admin.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

async function withAdmin<T>(use: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: adminUrl() });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(name: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return url.toString();
}

function adminUrl(): string {
  const url = process.env[POSTGRES_VARIABLE];
  if (url === undefined) throw new Error('no Postgres: is this an integration test?');
  return url;
}
