import { migrate } from '@lipsync/prisma';
import {
  createEmptyDatabase,
  createFactories,
  eventually,
  type Factories,
  type TestDatabase,
} from '@lipsync/testkit';
import { Client } from 'pg';
import { createMigrationFolder, type MigrationFolder } from '../../test/migration-folder';

const TABLE = '20990101000000_table';
const INDEX = '20990101000001_index';
const INDEX_SQL = `-- without transaction
-- A failed attempt leaves an index that is not valid.
DROP INDEX CONCURRENTLY IF EXISTS "large_id_idx";
CREATE UNIQUE INDEX CONCURRENTLY "large_id_idx"
  ON "large"("id");
`;

describe('a migration without transaction', () => {
  let database: TestDatabase;
  let make: Factories;
  let folder: MigrationFolder;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    make = createFactories(database.url);
    folder = createMigrationFolder();
    folder.write(TABLE, 'CREATE TABLE large (id int);');
    await deploy();
    folder.write(INDEX, INDEX_SQL);
  });
  afterEach(async () => {
    await make.close();
    await database.drop();
    folder.delete();
  });

  const deploy = (): Promise<string[]> =>
    migrate(database.url, { directory: folder.path }).then((report) => report.applied);

  const isValid = (): Promise<object[]> =>
    make.query(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'large_id_idx'::regclass`);

  it('is not recorded if it fails, and repairs on the next run what it left', async () => {
    await make.query('INSERT INTO large VALUES (1), (1)');
    await expect(deploy()).rejects.toThrow(`${INDEX}: error: could not create unique index`);
    expect(await isValid()).toEqual([{ valid: false }]);
    expect(await make.query('SELECT migration_name FROM _prisma_migrations')).toHaveLength(1);

    await make.query('DELETE FROM large');
    expect(await deploy()).toEqual([INDEX]);
    expect(await isValid()).toEqual([{ valid: true }]);
    expect(await deploy()).toEqual([]);
  });

  it('does not deadlock with a deployment that waits for it', async () => {
    const writer = new Client({ connectionString: database.url });
    await writer.connect();
    await writer.query('BEGIN; INSERT INTO large VALUES (1)');
    const first = deploy();
    await eventually(async () =>
      expect(await sessions(`state = 'active' AND query ~ 'CREATE.*INDEX'`)).toBe(1),
    );
    const second = deploy();
    await eventually(async () => expect(await sessions(`query ~ '^SELECT pg_.*advisory_lock'`)).toBe(1));
    await writer.query('COMMIT');
    await writer.end();
    expect(await Promise.all([first, second])).toEqual([[INDEX], []]);
  });

  async function sessions(condition: string): Promise<number> {
    const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    return (await make.query(`${sql} AND ${condition}`)).length;
  }
});
