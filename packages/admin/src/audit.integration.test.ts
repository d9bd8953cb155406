import { createSecretBox } from '@lipsync/runtime';
import { TEST_ACT } from '@lipsync/testkit';
import { type Command } from 'commander';
import { openOperator, type Operator, PREVIOUS_MASTER_KEY } from '../test/operator';
import { newCustomer } from './customers';
import { adminProgram } from './run-admin';

interface Audited {
  actor: string;
  login: string;
  command: string;
  customer_id: string | null;
  subject_id: string | null;
  details: Record<string, unknown>;
}

let operator: Operator;
beforeAll(async () => {
  operator = await openOperator();
});
afterAll(() => operator.close());

const customer = () => operator.make.customer();
const audit = (...args: string[]) => operator.json<Audited[]>('audit', ...args);

/** What each command is run with so that it changes something in the database, and leaves a row of its name. */
const CHANGING: Readonly<Record<string, () => Promise<string[]>>> = {
  'customers create': async () => ['Aurora'],
  'customers limits': async () => [await customer(), '--open-uploads', '7'],
  'customers suspend': async () => [await customer()],
  'customers resume': async () => {
    const id = await customer();
    await operator.json('customers', 'suspend', id);
    return [id];
  },
  'keys issue': async () => [await customer()],
  'keys revoke': async () => [(await operator.json<{ id: string }>('keys', 'issue', await customer())).id],
  'secrets rotate': async () => [(await operator.json<{ id: string }>('customers', 'create', 'Borealis')).id],
  'master-key rotate': async () => {
    const secretBox = createSecretBox(PREVIOUS_MASTER_KEY);
    await newCustomer({ db: operator.db, secretBox, act: TEST_ACT }, 'Cygnus');
    return [];
  },
  'renders cancel': async () => [await operator.render(await customer())],
  'webhooks redeliver': async () => [await operator.failedEvent(await customer())],
  purge: async () => [],
};

/** What each of the others is run with in a database in which nothing can be written. */
const READING: Readonly<Record<string, () => Promise<string[]>>> = {
  'customers list': async () => [],
  'keys list': async () => [await customer()],
  'renders list': async () => [],
  'renders show': async () => [await operator.render(await customer())],
  'webhooks failed': async () => [],
  usage: async () => [],
  audit: async () => [],
};

/** These change the store alone, often before there is a database: the store has a log of its own. */
const OF_THE_STORE = [
  ...['bucket create', 'bucket cors', 'bucket check', 'backup create', 'backup list'],
  'erased list',
];
/** It needs PostgreSQL's own programs and an installation that is stopped: `backup.parts` looks for its row. */
const ELSEWHERE = ['backup restore'];
/** These need the store and Redis too, and leave a row at the beginning and one at the end: `erase` looks for them. */
const ERASING = ['customers erase', 'renders erase', 'assets erase', 'erased apply'];

function commandsOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => commandsOf(each, [...path, each.name()]));
}

describe('every command', () => {
  it('either changes something and is tried below, or changes nothing', () => {
    const known = [
      ...Object.keys(CHANGING),
      ...Object.keys(READING),
      ...OF_THE_STORE,
      ...ELSEWHERE,
      ...ERASING,
    ];
    expect(commandsOf(adminProgram(() => ({}))).sort()).toEqual(known.sort());
  });

  it.each(Object.entries(CHANGING))('leaves a row of who ran it: %s', async (command, prepare) => {
    const args = await prepare();
    const rowsOfIt = async () => (await audit()).filter((row) => row.command === command);
    const before = (await rowsOfIt()).length;
    const { exitCode, stderr } = await operator.run(...command.split(' '), ...args, '--as', 'ada');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const [row, ...more] = (await rowsOfIt()).slice(before);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ actor: 'ada', login: expect.stringMatching(/./) as string });
    const id = args.find((arg) => arg.includes('_')) ?? '';
    expect(`${row?.customer_id} ${row?.subject_id}`).toContain(id);
  });

  it.each(Object.entries(READING))('writes nothing: %s', async (command, prepare) => {
    const { exitCode, stderr } = await operator.runReadOnly(...command.split(' '), ...(await prepare()));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });
});

describe('admin audit', () => {
  it('prints the rows of one customer as a table, the oldest first, without a secret or a name', async () => {
    const { id, signing_secret: secret } = await operator.json<{ id: string; signing_secret: string }>(
      'customers',
      'create',
      'Aurora',
      '--as',
      'ada',
    );
    await operator.json('customers', 'limits', id, '--get-per-minute', '7', '--as', 'bob');
    const key = await operator.json<{ id: string; api_key: string }>('keys', 'issue', id, '--name', 'Dora');
    const { stdout } = await operator.run('audit', '--customer', id);
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^at +actor +login +command +customer_id +subject_id +details$/);
    expect(rows).toEqual([
      expect.stringMatching(`^[\\dTZ:.-]+ +ada +\\w+ +customers create +${id} +- +-$`),
      expect.stringMatching(`^[\\dTZ:.-]+ +bob +\\w+ +customers limits +${id} +- +get_per_minute=7$`),
      expect.stringMatching(`^[\\dTZ:.-]+ +\\S.* +keys issue +${id} +${key.id} +expires_at=-$`),
    ]);
    for (const hidden of ['Aurora', 'Dora', secret, key.api_key]) expect(stdout).not.toContain(hidden);
  });

  it('shows no more than the time that is asked for', async () => {
    await operator.json('keys', 'issue', await customer());
    expect(await audit('--since', '0s')).toEqual([]);
    expect(await audit('--since', '1h')).not.toEqual([]);
  });
});
