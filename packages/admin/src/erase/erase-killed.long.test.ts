import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { listAudit } from '@lipsync/db';
import { openAdminLogin } from '../../test/admin-login';
import { identifiers, makeErasable, openWorld, rowsWith, type World } from '../../test/erasable';
import { listErasures } from './erasure-list';

/** The command as it is deployed. */
const ADMIN = path.resolve(__dirname, '../../../../services/api/dist/admin.js');

// One call waits until those who may have been at work for an interrupted one have ended.
jest.setTimeout(600_000);

let world: World;
let login: Awaited<ReturnType<typeof openAdminLogin>>;
beforeAll(async () => {
  world = await openWorld();
  login = await openAdminLogin(world);
});
afterAll(async () => {
  await login.close();
  await world.close();
});

/** How one call of the command ended: killed where it did something new, or by itself. */
interface Call {
  readonly killedAt: string | null;
  readonly exitCode: number | null;
}

/** Erases until the command does what is not in `seen`, and kills it then. A request to the store is not carried out. */
async function eraseUntilNew(customerId: string, seen: Set<string>): Promise<Call> {
  const args = [ADMIN, 'customers', 'erase', customerId, '--yes', '--as', 'ada'];
  const child = spawn(process.execPath, args, {
    env: login.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let killedAt: string | null = null;
  const happens = (event: string): void => {
    if (killedAt !== null || seen.has(event)) return;
    seen.add(event);
    killedAt = event;
    child.kill('SIGKILL');
  };
  let puts = 0;
  const applies = ({ method, key }: { method: string; key: string }): boolean => {
    if (method === 'PUT') puts += 1;
    // The second tells that the wait is over: killed before it, the command would only have to wait once more.
    if (method === 'PUT' && puts !== 2) happens(`PUT ${puts}`);
    if (method === 'DELETE') happens(`DELETE ${key.split('/')[0]}`);
    return killedAt !== null;
  };
  world.server.faults.set({ denyRate: 1, applies });
  createInterface({ input: child.stderr }).on('line', (line) =>
    happens(line.replace(/^admin: /, '').replaceAll(/\d+/g, 'n')),
  );
  const [exitCode] = (await once(child, 'close')) as [number | null];
  world.server.faults.clear();
  return { killedAt, exitCode };
}

it('ends erased, with one record, however often its process is killed, and never says so before it is', async () => {
  const customer = await makeErasable(world, 'the same video');
  const other = await makeErasable(world, 'the same video');
  const tracesOf = async (needles: readonly string[]): Promise<string[]> => [
    ...(await rowsWith(world, ...needles)),
    ...world.server.traces().filter((key) => needles.some((needle) => key.includes(needle))),
  ];
  const [needles, others] = [await identifiers(world, customer), await identifiers(world, other)];
  const before = await tracesOf(others);

  const seen = new Set<string>();
  const calls: Call[] = [];
  const states: (string | undefined)[] = [];
  do {
    calls.push(await eraseUntilNew(customer.customerId, seen));
    const records = [];
    for await (const record of listErasures(world.storage)) records.push(record);
    expect(records.length).toBeLessThanOrEqual(1);
    states.push(records[0]?.state);
  } while (calls.at(-1)?.killedAt !== null && calls.length < 100);

  expect(calls.at(-1)).toEqual({ killedAt: null, exitCode: 0 });
  expect(states.pop()).toBe('erased');
  expect(new Set(states)).toEqual(new Set([undefined, 'begun', 'stopped']));
  const kills = calls.map(({ killedAt }) => killedAt);
  for (const kind of ['features', 'outputs', 'uploads', 'assets']) expect(kills).toContain(`DELETE ${kind}`);
  expect(kills).toEqual(
    expect.arrayContaining(['PUT 1', 'noted in the list of erasures', 'nothing left', 'PUT 3']),
  );

  const told = needles.filter((needle) => !needle.startsWith('run_'));
  const left = [...(await rowsWith(world, ...told)), ...(await tracesOf(needles))];
  expect(left.filter((trace) => !/^(audit_log: |run_usage: |erased\/)/.test(trace))).toEqual([]);
  expect(await tracesOf(others)).toEqual(before);
  const acts = await listAudit(world.db, { sinceSeconds: 600, customerId: customer.customerId });
  expect(acts.map(({ details }) => details)).toMatchObject([{ state: 'erasing' }, { erased: true }]);
});
