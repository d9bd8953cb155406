import { Client } from 'pg';
import { connectionUrl } from './db';

const SETTINGS = '-c timezone=UTC -c jit=off';
const ADDRESS = 'postgresql://user:p%40ss@[::1]:5432/lipsync';

const parametersOf = (url: string): Record<string, string> => Object.fromEntries(new URL(url).searchParams);

it('sets the time zone and turns off JIT, and leaves address and credentials alone', () => {
  const url = connectionUrl(ADDRESS);
  expect(url.startsWith(`${ADDRESS}?options=`)).toBe(true);
  expect(parametersOf(url)).toEqual({ options: SETTINGS });
});

it.each([
  ['u:p%ss@localhost/db', 'p%ss'],
  ['u:100%@localhost/db', '100%'],
  ['u:p%40ss@localhost/db', 'p@ss'],
  ['u:p ss@localhost/db', 'p ss'],
])('leaves pg the password and the options of %s', (address, password) => {
  const client = new Client({ connectionString: connectionUrl(`postgres://${address}`) });
  expect(client).toMatchObject({
    connectionParameters: { password, options: SETTINGS, database: 'db' },
  });
});

it("adds its settings to the operator's own options", () => {
  const url = connectionUrl(
    `${ADDRESS}?sslmode=require&options=-c%20search_path%3Dlipsync%20-c%20timezone%3DAsia/Tokyo`,
  );
  expect(parametersOf(url)).toEqual({
    sslmode: 'require',
    // Postgres takes the last of two values for a setting.
    options: `-c search_path=lipsync -c timezone=Asia/Tokyo ${SETTINGS}`,
  });
});

it('keeps the time limits of statements and transactions in the hands of this service', () => {
  const url = connectionUrl(`${ADDRESS}?statement_timeout=0&idle_in_transaction_session_timeout=0`);
  expect(parametersOf(url)).toEqual({ options: SETTINGS });
});
