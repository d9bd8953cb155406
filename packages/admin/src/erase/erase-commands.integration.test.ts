import { openAdminLogin } from '../../test/admin-login';
import { openWorld, rowsWith, type World } from '../../test/erasable';
import { runCommand } from '../../test/operator';
import { applyAgain } from './apply-again';
import { stop } from './erase';
import { type ErasureRecord } from './erasure-list';

let world: World;
let login: Awaited<ReturnType<typeof openAdminLogin>>;
beforeAll(async () => {
  world = await openWorld();
  login = await openAdminLogin(world);
});
afterEach(() => world.server.faults.clear());
afterAll(async () => {
  await login.close();
  await world.close();
});

const admin = (...args: string[]) => runCommand(login.environment, ...args);

async function json<T>(...args: string[]): Promise<T> {
  const { exitCode, stdout, stderr } = await admin(...args, '--json');
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

/** A customer for whom nobody is at work: with a key, and an asset that is stored twice. */
async function customerAtRest(): Promise<string> {
  const customerId = await world.make.customer();
  await world.make.apiKey(customerId);
  const assetId = await world.make.readyAsset({ customerId, mediaType: 'video' });
  for (const bytes of ['replaced', 'current'])
    await world.storage.put(`assets/${assetId}/original`, Buffer.from(bytes), { contentType: 'video/mp4' });
  return customerId;
}

describe('admin customers erase', () => {
  it('says what is there, erases it under the role of admin, and says when it is repeated that it was', async () => {
    const id = await customerAtRest();
    const { exitCode, stdout, stderr } = await admin(
      'customers',
      'erase',
      id,
      '--yes',
      '--as',
      'ada',
      '--json',
    );
    expect({ exitCode }).toEqual({ exitCode: 0 });
    expect(stderr).toContain('0 renders, 0 preparations, 1 assets and 0 uploads; 2 objects with 15 bytes');
    const record = JSON.parse(stdout) as object;
    expect(record).toMatchObject({ kind: 'customer', id, state: 'erased', by: 'ada', assets: 1, objects: 2 });
    expect(await json('customers', 'erase', id)).toMatchObject({ id, state: 'erased', by: 'ada' });
    expect(await json<ErasureRecord[]>('erased', 'list')).toContainEqual(expect.objectContaining({ id }));
    const rows = (await rowsWith(world, id)).map((row) => row.replace(/:.*/s, ''));
    expect(rows).toEqual(['audit_log', 'audit_log']);
  });

  it('does nothing where nobody can confirm it', async () => {
    const id = await customerAtRest();
    const before = await rowsWith(world, id);
    const { exitCode, stderr } = await admin('customers', 'erase', id);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('repeat it with --yes');
    expect(await rowsWith(world, id)).toEqual(before);
  });

  it('names the rights that it needs if the store refuses, and ends when it is repeated with them', async () => {
    const id = await customerAtRest();
    world.server.faults.set({ denyRate: 1, applies: ({ method, key }) => method === 'DELETE' && key !== '' });
    const { exitCode, stdout, stderr } = await admin('customers', 'erase', id, '--yes');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain('s3:DeleteObjectVersion');
    world.server.faults.clear();
    expect(await json('customers', 'erase', id, '--yes')).toMatchObject({ id, state: 'erased' });
  });

  it('cannot be undone by resuming the customer', async () => {
    const id = await customerAtRest();
    world.server.faults.set({ denyRate: 1, applies: ({ method }) => method === 'DELETE' });
    await admin('customers', 'erase', id, '--yes');
    const { exitCode, stderr } = await admin('customers', 'resume', id);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${id} is being erased`);
    world.server.faults.clear();
    expect(await json('customers', 'erase', id, '--yes')).toMatchObject({ id, state: 'erased' });
  });
});

it.each(['customer', 'render', 'asset'])('says that there is no such %s', async (kind) => {
  const { exitCode, stderr } = await admin(`${kind}s`, 'erase', 'none', '--yes');
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `admin: there is no ${kind} none\n` });
});

describe('admin erased apply', () => {
  it('erases again what a restore of the database brought back, and nothing else', async () => {
    const [id, other] = [await customerAtRest(), await customerAtRest()];
    const backup = await backUp(id);
    await json('customers', 'erase', id, '--yes');
    expect(await json('erased', 'apply')).toEqual([]);
    await restore(backup);
    expect((await rowsWith(world, id)).length).toBeGreaterThan(3);
    expect(await json('erased', 'apply')).toEqual([{ kind: 'customer', id, left: 'nothing' }]);
    expect(new Set((await rowsWith(world, id)).map((row) => row.replace(/:.*/s, '')))).toEqual(
      new Set(['audit_log']),
    );
    expect((await rowsWith(world, other)).length).toBeGreaterThan(2);
  });

  it('lets one that fails keep no other from being erased again, and says which it was', async () => {
    const ids = [await customerAtRest(), await customerAtRest()];
    const [broken = '', fine = ''] = ids;
    const backups = [await backUp(broken), await backUp(fine)];
    for (const id of ids) await json('customers', 'erase', id, '--yes');
    for (const backup of backups) await restore(backup);
    world.server.faults.set({
      slowDownRate: 1,
      applies: ({ method, key }) => method === 'PUT' && key.includes(broken),
    });
    const { exitCode, stdout } = await admin('erased', 'apply', '--json');
    expect(exitCode).toBe(1);
    const left = JSON.parse(stdout) as { id: string; left: string }[];
    expect(left.find(({ id }) => id === fine)?.left).toBe('nothing');
    expect(left.find(({ id }) => id === broken)?.left).toMatch(/put/);
    world.server.faults.clear();
    expect(await json('erased', 'apply')).toEqual([{ kind: 'customer', id: broken, left: 'nothing' }]);
  });

  it('waits once for all that were interrupted', async () => {
    const ids = [await customerAtRest(), await customerAtRest()];
    const act = { actor: 'ada', command: 'customers erase' };
    const found = { renders: 0, preparations: 0, assets: 1, uploads: 0, objects: 2, bytes: 15 };
    const onStep = (): void => undefined;
    const waits: number[] = [];
    const deps = { ...world, act, onStep, wait: async (ms: number) => void waits.push(ms) };
    for (const id of ids) await stop(deps, { kind: 'customer', id, customerId: id }, found);
    const erased = ids.map((id) => ({ kind: 'customer', id, left: 'nothing' }));
    expect(await applyAgain(deps)).toEqual(expect.arrayContaining(erased));
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThan(60_000);
    expect(await rowsWith(world, ...ids)).toEqual(
      expect.not.arrayContaining([expect.not.stringMatching(/^audit_log: /)]),
    );
  });

  interface BackedUp {
    table: string;
    row: object;
  }

  async function backUp(id: string): Promise<BackedUp[]> {
    const tables = new Set((await rowsWith(world, id)).map((row) => row.replace(/:.*/s, '')));
    const rows: BackedUp[] = [];
    for (const table of tables) {
      const found = await world.make.query<{ row: object }>(
        `SELECT to_json(t) AS row FROM "${table}" AS t WHERE position($1 IN t::text) > 0`,
        [id],
      );
      rows.push(...found.map(({ row }) => ({ table, row })));
    }
    return rows;
  }

  async function restore(rows: readonly BackedUp[]): Promise<void> {
    for (const { table, row } of rows)
      await world.make.query(
        `INSERT INTO "${table}" SELECT * FROM json_populate_record(NULL::"${table}", $1)`,
        [JSON.stringify(row)],
      );
  }
});
