import { openOperator, type Operator } from '../test/operator';

interface Listed {
  id: string;
}

let operator: Operator;
beforeAll(async () => {
  operator = await openOperator();
});
afterAll(() => operator.close());

const text = async (...args: string[]): Promise<string> => (await operator.run(...args)).stdout;

const createCustomer = () =>
  operator.json<{ id: string; signing_secret: string }>('customers', 'create', 'Borealis');

describe('admin customers', () => {
  it('prints a new one with its secret, as text with one line per field', async () => {
    const lines = (await text('customers', 'create', 'Aurora', '--open-uploads', '7')).trimEnd().split('\n');
    expect(lines).toContainEqual(expect.stringMatching(/^name +Aurora$/));
    expect(lines).toContainEqual(expect.stringMatching(/^open_uploads +7$/));
    expect(lines).toContainEqual(expect.stringMatching(/^signing_secret +[0-9a-f]{64}$/));
  });

  it('lists them as text and as JSON, without a secret', async () => {
    const { id, signing_secret: secret } = await createCustomer();
    const listed = await operator.json<Listed[]>('customers', 'list');
    expect(listed).toContainEqual(expect.objectContaining({ id, name: 'Borealis', open_uploads: 50 }));
    expect(JSON.stringify(listed)).not.toContain(secret);

    const [head, ...rows] = (await text('customers', 'list')).trimEnd().split('\n');
    expect(head).toMatch(/^id +name +state +created_at +post_per_minute/);
    expect(rows).toHaveLength(listed.length);
    expect(rows.find((row) => row.startsWith(id))).toMatch(
      / Borealis +active +\d{4}-\d\d-\d\dT[\d:.]+Z +300 /,
    );
  });
});

it('prints no name that commands the terminal, and loses nothing of it as JSON', async () => {
  const name = 'Aurora\x1b[2J\x7f\u009b31m\u202egpj\u2066\u2028\ncus_forged';
  // eslint-disable-next-line no-control-regex -- what a terminal obeys, which is what this looks for
  const obeyed = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|^cus_forged/m;
  const created = await text('customers', 'create', name);
  const listed = await text('customers', 'list');
  const json = await text('customers', 'list', '--json');
  const { stderr } = await operator.run('keys', 'issue', name);
  expect(listed).toMatch(/ Aurora\ufffd\[2J/);
  expect(stderr).toContain('there is no customer Aurora');
  for (const printed of [created, listed, json, stderr]) expect(printed).not.toMatch(obeyed);
  expect(JSON.parse(json)).toContainEqual(expect.objectContaining({ name }));
});

describe('admin customers suspend', () => {
  const event = async (id: string) =>
    (await operator.json<{ delivery_id: string }[]>('webhooks', 'failed', '--customer', id)).length;

  it('cancels work and drops deliveries, those of the cancelled work as well, if it is told to', async () => {
    const id = await operator.make.customer();
    const render = await operator.render(id);
    expect(await operator.json('customers', 'suspend', id)).toEqual({
      id,
      state: 'suspended',
      renders_cancelled: 0,
      preparations_stopped: 0,
      deliveries_dropped: 0,
    });
    expect(await operator.json('renders', 'show', render)).toMatchObject({ status: 'accepted' });
    expect(await operator.json('customers', 'suspend', id, '--cancel-work', '--drop-deliveries')).toEqual({
      id,
      state: 'suspended',
      renders_cancelled: 1,
      preparations_stopped: 0,
      deliveries_dropped: 1,
    });
    expect(await event(id)).toBe(1);
    expect(await operator.json('customers', 'list')).toContainEqual(
      expect.objectContaining({ id, state: 'suspended' }),
    );
  });

  it('is undone by resume, once, which may drop what was held', async () => {
    const id = await operator.make.customer();
    await operator.render(id);
    await operator.json('customers', 'suspend', id, '--cancel-work');
    expect(await operator.json('customers', 'resume', id, '--drop-deliveries')).toEqual({
      id,
      state: 'active',
      deliveries_dropped: 1,
    });
    expect(await operator.run('customers', 'resume', id)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `admin: ${id} is not suspended\n`,
    });
  });
});

describe('admin keys', () => {
  it('shows the name of a key, who issued it and when it ends', async () => {
    const { id } = await createCustomer();
    const issued = await operator.json<Record<string, string | null>>(
      ...['keys', 'issue', id, '--name', ' the newsroom ', '--expires', '90d', '--as', 'ada'],
    );
    expect(issued).toMatchObject({ name: 'the newsroom', issued_by: 'ada' });
    const days =
      (Date.parse(issued['expires_at'] ?? '') - Date.parse(issued['created_at'] ?? '')) / 86_400_000;
    expect(days).toBe(90);
    expect(await text('keys', 'list', id)).toContain('the newsroom');
  });

  it('lists the state of the keys, and never a key itself', async () => {
    const { id } = await createCustomer();
    const issue = () => operator.json<{ id: string; api_key: string }>('keys', 'issue', id);
    const [first, second] = [await issue(), await issue()];
    await operator.json('keys', 'revoke', second.id);
    const listed = await operator.json<Record<string, string | null>[]>('keys', 'list', id);
    expect(listed).toMatchObject([
      { id: first.id, ends_in: first.api_key.slice(-4), last_used_at: null, revoked_at: null },
      { id: second.id, ends_in: second.api_key.slice(-4), last_used_at: null },
    ]);
    expect(Date.parse(listed[1]?.['revoked_at'] ?? '')).not.toBeNaN();
    const table = await text('keys', 'list', id);
    expect(table).toMatch(
      /^id +name +ends_in +issued_by +created_at +expires_at +last_used_at +revoked_at$/m,
    );
    for (const { api_key: secret } of [first, second])
      expect(table + JSON.stringify(listed)).not.toContain(secret);
  });
});

it.each([
  ['an unknown customer', ['keys', 'issue', 'cus_nobody'], /there is no customer cus_nobody/],
  ['the secret of nobody', ['secrets', 'rotate', 'cus_nobody'], /there is no customer cus_nobody/],
  ['limits of nobody', ['customers', 'limits', 'cus_x', '--open-uploads', '1'], /there is no customer cus_x/],
  ['an unknown key', ['keys', 'revoke', 'key_none'], /there is no active key key_none/],
  ['an unknown event', ['webhooks', 'redeliver', 'evt_none'], /there is no event evt_none/],
  ['suspending nobody', ['customers', 'suspend', 'cus_nobody'], /there is no customer cus_nobody/],
  ['resuming nobody', ['customers', 'resume', 'cus_nobody'], /there is no customer cus_nobody/],
  ['renders of nobody', ['renders', 'list', '--customer', 'cus_nobody'], /there is no customer cus_nobody/],
  ['cancelling none', ['renders', 'cancel', 'ren_none'], /there is no render ren_none/],
  [
    'cancelling of nobody',
    ['renders', 'cancel', '--customer', 'cus_nobody'],
    /there is no customer cus_nobody/,
  ],
  ['cancelling nothing', ['renders', 'cancel'], /cancel takes either the id of a render or --customer/],
  [
    'cancelling both',
    ['renders', 'cancel', 'ren_none', '--customer', 'cus_nobody'],
    /cancel takes either the id of a render or --customer/,
  ],
])('ends with a failure and one sentence for %s', async (_, args, sentence) => {
  const { exitCode, stdout, stderr } = await operator.run(...args, '--json');
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toMatch(/ at .*\.js/);
});
