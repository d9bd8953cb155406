import { randomBytes } from 'node:crypto';
import { migrate } from '@lipsync/prisma';
import { createEmptyDatabase, createFactories, type Factories, type TestDatabase } from '@lipsync/testkit';
import { createMigrationFolder } from '../../test/migration-folder';
import { createDb } from './db';

const PASSWORD = 'secret';

/** Set up as in the runbook, where a password is changed by switching to the other login. */
describe('two login roles that act as the owner', () => {
  const owner = `owner_${randomBytes(6).toString('hex')}`;
  const logins = [`${owner}_a`, `${owner}_b`] as const;
  let database: TestDatabase;
  let admin: Factories;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    admin = createFactories(database.url);
    await admin.query(`CREATE ROLE ${owner} NOLOGIN`);
    await admin.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO ${owner}`);
    for (const login of logins) {
      await admin.query(`CREATE ROLE ${login} LOGIN PASSWORD '${PASSWORD}' IN ROLE ${owner}`);
      await admin.query(`ALTER ROLE ${login} SET role = '${owner}'`);
    }
  });
  afterEach(async () => {
    await admin.query(`REASSIGN OWNED BY ${owner} TO CURRENT_USER`);
    await admin.query(`DROP ROLE ${[...logins, owner].join(', ')}`);
    await admin.close();
    await database.drop();
  });

  function urlOf(login: string): string {
    const url = new URL(database.url);
    url.username = login;
    url.password = PASSWORD;
    return url.href;
  }

  it('may each use what the other has migrated', async () => {
    const [first, second] = logins;
    await migrate(urlOf(first));
    const folder = createMigrationFolder();
    folder.write(
      '20990101000000_later',
      'CREATE TABLE later (id int); ALTER TABLE customers ADD COLUMN later int;',
    );
    await migrate(urlOf(second), { directory: folder.path });
    folder.delete();

    const owners = await admin.query(`SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'`);
    expect(owners).toEqual([{ tableowner: owner }]);
    for (const login of logins) {
      const db = createDb({ url: urlOf(login), poolMax: 2, publicBaseUrl: 'https://api.example.com' });
      await db.prisma.$executeRaw`INSERT INTO later VALUES (1)`;
      expect(await db.prisma.customer.count()).toBe(0);
      await db.close();
    }
  });
});
