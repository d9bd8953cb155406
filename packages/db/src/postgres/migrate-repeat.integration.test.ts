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
import { startTcpProxy } from '../../test/tcp-proxy';

const NAME = '20990101000000_half';

describe('a migration that fails or takes long', () => {
  let database: TestDatabase;
  let make: Factories;
  let folder: MigrationFolder;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    make = createFactories(database.url);
    folder = createMigrationFolder();
    await make.query('CREATE TABLE busy (id int)');
  });
  afterEach(async () => {
    await make.close();
    await database.drop();
    folder.delete();
  });

  const deploy = (): Promise<string[]> =>
    migrate(database.url, { directory: folder.path }).then((report) => report.applied);

  /**
   * Keeps a table in use while `work` runs: reading prevents a migration from changing it, writing prevents one from
   * indexing it.
   */
  async function whileBusy(work: () => Promise<void>, use = 'SELECT FROM busy'): Promise<void> {
    const reader = new Client({ connectionString: database.url });
    reader.on('error', () => undefined);
    await reader.connect();
    await reader.query(`BEGIN; ${use}`);
    await work();
    await reader.end();
  }

  async function remains(): Promise<{ tables: object[]; records: object[] }> {
    return {
      tables: await make.query(`SELECT 1 FROM pg_class WHERE relname = 'half'`),
      records: await make.query('SELECT 1 FROM _prisma_migrations'),
    };
  }

  it('leaves nothing behind, not even a record, and is applied on the next run', async () => {
    await make.query('INSERT INTO busy VALUES (1), (1)');
    folder.write(NAME, 'CREATE TABLE half (id int); ALTER TABLE busy ADD UNIQUE (id);');
    await expect(deploy()).rejects.toThrow(`${NAME}: error: could not create unique index`);
    expect(await remains()).toEqual({ tables: [], records: [] });
    await make.query('DELETE FROM busy');
    expect(await deploy()).toEqual([NAME]);
  });

  it('waits for a table that is being read, and meanwhile blocks nobody else from it', async () => {
    folder.write(NAME, 'CREATE TABLE half (id int); ALTER TABLE busy ADD COLUMN half int;');
    let deploying: Promise<{ applied: string[] }> | undefined;
    await whileBusy(async () => {
      await new Promise<string>((resolve) => {
        deploying = migrate(database.url, {
          directory: folder.path,
          onTableBusy: resolve,
          tablePauseMs: 100,
        });
      });
      expect(await make.query('SELECT FROM busy')).toEqual([]);
    });
    expect(await deploying).toEqual({ applied: [NAME], granted: [] });
  });

  it('releases its locks soon after its process is gone', async () => {
    folder.write(NAME, '-- without transaction\nCREATE INDEX CONCURRENTLY "late" ON "busy"("id");');
    const url = new URL(database.url);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    const building = () =>
      make.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query ~ 'CREATE INDEX'`,
      );
    await whileBusy(async () => {
      const failure = migrate(url.href, { directory: folder.path }).catch((error: unknown) => error);
      await eventually(async () => expect(await building()).toHaveLength(1));
      await proxy.close();
      expect(String(await failure)).toContain(NAME);
      await eventually(async () => expect(await building()).toHaveLength(0));
    }, 'INSERT INTO busy VALUES (1)');
  });

  it('may take longer than the database allows for requests', async () => {
    await make.query(
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET statement_timeout = '20ms'`,
    );
    folder.write(NAME, 'CREATE TABLE half (id int); SELECT pg_sleep(0.1);');
    expect(await deploy()).toEqual([NAME]);
  });

  it('is not treated as failed if only the response to its commit is lost', async () => {
    folder.write(NAME, 'CREATE TABLE half (id int);');
    const url = new URL(database.url);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    proxy.reset('COMMIT', 'answered');
    await expect(migrate(url.href, { directory: folder.path })).rejects.toThrow(NAME);
    await proxy.close();
    expect(await deploy()).toEqual([]);
  });

  describe('and was recorded as unfinished by an earlier version', () => {
    beforeEach(async () => {
      await deploy();
      await make.query(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs) VALUES ('one', 'old', $1, 'no')`,
        [NAME],
      );
    });

    it('is applied, and the old record is closed as rolled back', async () => {
      folder.write(NAME, 'CREATE TABLE half (id int);');
      expect(await deploy()).toEqual([NAME]);
      const rows = await make.query(
        `SELECT finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS rolled_back
         FROM _prisma_migrations ORDER BY finished_at NULLS FIRST`,
      );
      expect(rows).toEqual([
        { finished: false, rolled_back: true },
        { finished: true, rolled_back: false },
      ]);
      expect(await deploy()).toEqual([]);
    });

    it('changes nothing if its SQL had been committed: an operator records it as applied', async () => {
      folder.write(NAME, 'ALTER TABLE busy ADD COLUMN half int;');
      await make.query('ALTER TABLE busy ADD COLUMN half int');
      await expect(deploy()).rejects.toThrow('already exists');
      await make.query(
        `UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1, checksum = encode(sha256($2), 'hex')
         WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
        [NAME, Buffer.from('ALTER TABLE busy ADD COLUMN half int;')],
      );
      expect(await deploy()).toEqual([]);
    });
  });
});
