import { userInfo } from 'node:os';
import { Command } from 'commander';
import { addActor } from './actor';

describe('who the audit log says runs a command', () => {
  const named = process.env['ADMIN_AS'];
  beforeEach(() => delete process.env['ADMIN_AS']);
  afterAll(() => {
    if (named !== undefined) process.env['ADMIN_AS'] = named;
  });

  async function acts(...args: string[]) {
    const program = new Command('admin').exitOverride().configureOutput({ writeErr: () => undefined });
    const act = addActor(program);
    let acted: unknown;
    program
      .command('keys')
      .command('revoke <id>')
      .action(() => void (acted = act()));
    await program.parseAsync(['node', 'admin', ...args]);
    return acted;
  }

  it('is the user of the operating system', async () => {
    expect(await acts('keys', 'revoke', 'key_1')).toEqual({
      actor: userInfo().username,
      command: 'keys revoke',
    });
  });

  it.each([
    ['before the command', ['--as', 'ada', 'keys', 'revoke', 'key_1']],
    ['after it', ['keys', 'revoke', 'key_1', '--as', ' ada ']],
  ])('is who is named %s', async (_, args) => {
    expect(await acts(...args)).toMatchObject({ actor: 'ada' });
  });

  it('is who the environment names, unless somebody else is', async () => {
    process.env['ADMIN_AS'] = 'bob';
    expect(await acts('keys', 'revoke', 'key_1')).toMatchObject({ actor: 'bob' });
    expect(await acts('keys', 'revoke', 'key_1', '--as', 'ada')).toMatchObject({ actor: 'ada' });
    process.env['ADMIN_AS'] = '';
    expect(await acts('keys', 'revoke', 'key_1')).toMatchObject({ actor: userInfo().username });
  });

  it.each([' ', 'a'.repeat(201)])('is never %j', async (name) => {
    await expect(acts('keys', 'revoke', 'key_1', '--as', name)).rejects.toThrow('a name of at most 200');
  });
});
