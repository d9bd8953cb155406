import { runCommand } from '../test/operator';

const environment = {
  DATABASE_URL: 'postgres://lipsync@127.0.0.1:1/lipsync',
  PUBLIC_BASE_URL: 'https://api.example.com',
  MASTER_KEY: 'ab'.repeat(32),
};

it.each(['', '  ', '\t\n', '\u200b'])('refuses to create a customer whose name is %j', async (name) => {
  expect(await runCommand(environment, 'customers', 'create', name)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'admin: the name of a customer needs at least one visible character\n',
  });
});

it('says in one sentence that the database cannot be reached', async () => {
  expect(await runCommand(environment, 'customers', 'list')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: "admin: the database cannot be used now: Can't reach database server at 127.0.0.1:1\n",
  });
});
