import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '@lipsync/prisma';
import {
  createEmptyDatabase,
  createFactories,
  createTestDatabase,
  type Factories,
  type TestDatabase,
} from '@lipsync/testkit';
import { createMigrationFolder, type MigrationFolder } from '../../test/migration-folder';

const PRISMA = join(__dirname, '..', '..', '..', '..', 'prisma');

interface Column {
  name: string;
  type: string;
  nullable: boolean;
}

describe('migrations', () => {
  let database: TestDatabase;
  let make: Factories;
  let folder: MigrationFolder;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    make = createFactories(database.url);
    folder = createMigrationFolder();
    cpSync(join(PRISMA, 'migrations'), folder.path, { recursive: true });
  });
  afterEach(async () => {
    await make.close();
    await database.drop();
    folder.delete();
  });

  it('are applied once by any number of concurrent deployments, and recorded as Prisma does', async () => {
    const reports = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)));
    const applied = reports.flatMap((report) => report.applied);
    expect(applied.length).toBeGreaterThan(0);
    const recorded = await make.query<{ name: string }>(
      `SELECT migration_name AS name FROM _prisma_migrations
       WHERE finished_at IS NOT NULL AND applied_steps_count = 1 AND checksum ~ '^[0-9a-f]{64}$' ORDER BY name`,
    );
    expect(recorded.map(({ name }) => name)).toEqual(applied.sort());
    expect((await migrate(database.url)).applied).toEqual([]);
  });

  it('leave the release before what it writes of features, whose coverage it counts in frames', async () => {
    await migrate(database.url, { directory: folder.path });
    await make.query(
      `INSERT INTO features (customer_id, video_sha256, name, sha256, frames, expires_at)
       VALUES ('c', 'v', 'track', 's', 60, now())`,
    );
    expect(await make.query('SELECT frames, seconds FROM features')).toEqual([{ frames: 60, seconds: 0 }]);
  });

  it('take over the usage of runs that ended before it was kept, and are still there', async () => {
    const later = readdirSync(folder.path).filter((name) => name >= '20261127133100');
    for (const name of later) rmSync(join(folder.path, name), { recursive: true });
    await migrate(database.url, { directory: folder.path });
    await make.query(
      `INSERT INTO engine_runs (id, render_id, customer_id, engine, position, status, stage, progress_percent, usage, updated_at)
       VALUES ('run_1', 'ren_1', 'cus_1', 'musetalk', 0, 'completed', 'completed', 100,
         '{"output_seconds": 4.5, "rendered_frames": 112, "gpu_inference_seconds": null}', '2026-10-02T03:04:05.678Z'),
         ('run_2', 'ren_1', 'cus_1', 'highsync', 1, 'cancelled', 'cancelled', 0, '{}', '2026-10-03T00:00:00Z'),
         ('run_3', 'ren_2', 'cus_1', 'highsync', 0, 'processing', 'inferencing', 7, '{}', now())`,
    );
    await migrate(database.url);
    const columns =
      'id, render_id, customer_id, engine, outcome, finished_at, output_seconds, frames, gpu_seconds';
    expect(await make.query(`SELECT ${columns} FROM run_usage ORDER BY id`)).toEqual([
      {
        id: 'run_1',
        render_id: 'ren_1',
        customer_id: 'cus_1',
        engine: 'musetalk',
        outcome: 'completed',
        finished_at: new Date('2026-10-02T03:04:05.678Z'),
        output_seconds: 4.5,
        frames: 112,
        gpu_seconds: null,
      },
      expect.objectContaining({ id: 'run_2', outcome: 'cancelled', output_seconds: null }),
    ]);
  });

  it('leave the release before its customers, who may use the service, and its keys, which have no end', async () => {
    await migrate(database.url, { directory: folder.path });
    await make.query(`INSERT INTO customers (id, name) VALUES ('c', 'Ada')`);
    await make.query(
      `INSERT INTO api_keys (id, customer_id, hash, last_four) VALUES ('k', 'c', 'h', 'ffff')`,
    );
    expect(
      await make.query(
        `SELECT state, api_keys.name, issued_by, expires_at FROM api_keys JOIN customers ON customers.id = customer_id`,
      ),
    ).toEqual([{ state: 'active', name: null, issued_by: null, expires_at: null }]);
  });

  it('stop if an applied one was edited', async () => {
    const { applied } = await migrate(database.url, { directory: folder.path });
    folder.write(applied[0] ?? '', 'SELECT 1;');
    await expect(migrate(database.url, { directory: folder.path })).rejects.toThrow('was edited');
  });

  it('create the tables, columns, types and indexes that the schema file describes', async () => {
    const migrated = await createTestDatabase();
    const live = createFactories(migrated.url);
    try {
      const described = describedTables(readFileSync(join(PRISMA, 'schema.prisma'), 'utf8'));
      expect(Object.fromEntries(await actualTables(live))).toEqual(Object.fromEntries(described));
    } finally {
      await live.close();
      await migrated.drop();
    }
  });
});

/** Column types by their name in the schema file. */
const TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  Json: 'jsonb',
  Boolean: 'boolean',
  Bytes: 'bytea',
  DateTime: 'timestamp with time zone',
};

function describedTables(schema: string): Map<string, Column[]> {
  const tables = new Map<string, Column[]>();
  for (const [, body = ''] of schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)) {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';
    const fields = [...body.matchAll(/^ {2}(\w+) +(\w+)(\??)(.*)$/gm)];
    const columns = fields.map(([, field = '', type = '', optional, rest = '']) => ({
      name: /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field,
      type: TYPES[type] ?? type,
      nullable: optional === '?',
    }));
    tables.set(table, columns.sort(byName));
  }
  return tables;
}

async function actualTables(live: Factories): Promise<Map<string, Column[]>> {
  const rows = await live.query<Column & { table: string }>(
    `SELECT table_name AS "table", column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'`,
  );
  const tables = new Map<string, Column[]>();
  for (const { table, ...column } of rows)
    tables.set(table, [...(tables.get(table) ?? []), column].sort(byName));
  return tables;
}

function byName(a: Column, b: Column): number {
  return a.name < b.name ? -1 : 1;
}
