import { runCommand } from '../test/operator';
import { duration, parseMonth } from './command-line';

const environment = {
  DATABASE_URL: 'postgres://lipsync@127.0.0.1:1/lipsync',
  PUBLIC_BASE_URL: 'https://api.example.com',
};
const MASTER_KEY = 'ab'.repeat(32);

it.each(['', '  ', '\t\n', '\u200b'])('refuses to create a customer whose name is %j', async (name) => {
  expect(await runCommand({ ...environment, MASTER_KEY }, 'customers', 'create', name)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'admin: the name of a customer needs at least one visible character\n',
  });
});

it.each([
  ['customers', 'create', 'Ada'],
  ['secrets', 'rotate', 'cus_1'],
  ['master-key', 'rotate'],
])('asks for the master key where a secret is stored: %s %s', async (...args) => {
  const { exitCode, stderr } = await runCommand(environment, ...args);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('MASTER_KEY');
});

it('says in one sentence that the database cannot be reached', async () => {
  expect(await runCommand(environment, 'customers', 'list')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: "admin: the database is unavailable: Can't reach database server at 127.0.0.1:1\n",
  });
});

it.each([
  ['0s', 0],
  ['90s', 90],
  ['30m', 1_800],
  ['24h', 86_400],
  ['3650d', 315_360_000],
])('reads %s', (value, seconds) => {
  expect(duration(value)).toBe(seconds);
});

it.each(['', '24', 'h', '1.5h', '-1h', '1w', '3651d', '24 h'])('refuses %p', (value) => {
  expect(() => duration(value)).toThrow('Expected a duration');
});

it('reads a month of UTC', () => {
  expect(parseMonth('2026-10')).toEqual(new Date('2026-10-01T00:00:00Z'));
});

it.each(['', '2026', '2026-13', '2026-00', '2026-1', '10/2026', '2026-10-01'])(
  'refuses the month %p',
  (value) => {
    expect(() => parseMonth(value)).toThrow('Expected a month such as 2026-10');
  },
);
