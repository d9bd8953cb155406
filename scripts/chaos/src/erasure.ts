import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, pick, REPOSITORY_ROOT, type StackCustomer, waitUntil } from '@lipsync/local-stack';
import type { Fleet } from './fleet';
import type { Entry, History } from './history';
import type { Failpoint } from './inject';
import type { Change, Observer, Row, Table } from './observe';

/** The operator's command as it is deployed. */
const ADMIN = path.join(REPOSITORY_ROOT, 'services', 'api', 'dist', 'admin.js');
/** How long the customer is given to have something of every kind. */
const SETTLES_MS = 60_000;
/** Longer than the command waits for those who may still be storing. */
const CALL_MS = 180_000;

/** Where the first calls end themselves: while they stop the customer's work, and after the wait for its workers. */
const EARLY: readonly Failpoint[] = [1, 2, 3, 4].flatMap((nth) => [
  { point: 'commit', side: 'before', nth },
  { point: 'commit', side: 'after', nth },
  { point: 'put', side: nth % 2 === 0 ? 'before' : 'after', nth: 1 },
]);
const LATE: readonly Failpoint[] = [
  { point: 'put', side: 'after', nth: 2 },
  { point: 'put', side: 'before', nth: 3 },
];

interface EraseOptions {
  seed: number;
  fleet: Fleet;
  observer: Observer;
  history: History;
  /** No call begins later, in milliseconds since the epoch. */
  deadline: number;
}

/** Erases the last customer while it is at work. The first two calls are killed; then it is called until it has ended. */
export async function eraseAtWork({ seed, fleet, observer, history, deadline }: EraseOptions): Promise<void> {
  const random = createRandom(seed, 'erasure');
  const { id } = erasedOf(fleet);
  const kills = [pick(EARLY, random), pick(LATE, random)];
  await waitUntil(() => hasWork(observer, id), SETTLES_MS);
  while (Date.now() < deadline) {
    const kill = kills.shift();
    if (kill !== undefined) fleet.arm(fleet.operator, kill);
    const { exitCode, said } = await callAdmin(fleet, 'customers', 'erase', id, '--yes', '--json');
    rmSync(fleet.operator.armFile, { force: true });
    history.add({ kind: 'erase', exitCode, said });
    if (exitCode === 0) return;
    // The customer is refused by now and has long given up its uploads. Their addresses would last half an hour.
    if (said.includes('signed upload URLs'))
      await observer.ask(`UPDATE uploads SET expires_at = now() - interval '1 hour' WHERE customer_id = $1`, [
        id,
      ]);
    await delay(1_000);
  }
}

/** Whether it has an output, and a job under way: an erasure has both to delete and to stop. */
async function hasWork(observer: Observer, customerId: string): Promise<boolean> {
  const found = await observer
    .ask(
      `SELECT FROM engine_runs WHERE customer_id = $1 AND status = 'completed'
         AND EXISTS (SELECT FROM jobs WHERE customer_id = $1 AND status = 'running')`,
      [customerId],
    )
    .catch(() => []);
  return found.length > 0;
}

function erasedOf({ customers }: Fleet): StackCustomer {
  const last = customers.at(-1);
  if (last === undefined) throw new RangeError('there is no customer');
  return last;
}

/** Runs a command to its end. The exit code is null if it was killed. */
async function callAdmin(
  { operator }: Fleet,
  ...args: string[]
): Promise<{ exitCode: number | null; said: string; stdout: string }> {
  const child = spawn(process.execPath, [ADMIN, ...args], {
    env: operator.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CALL_MS,
    killSignal: 'SIGKILL',
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const [stdout, said] = await output;
  return { exitCode, said, stdout };
}

/** What the erasure left, as found when everything had ended. */
export interface Erased {
  /** On the list of erasures. */
  readonly records: readonly { readonly id: string; readonly state: string }[];
  /** Rows, objects, messages and webhooks that there should not be. */
  readonly traces: readonly string[];
  /** Keys of other customers' objects that are gone. */
  readonly missing: readonly string[];
}

/** Everything there is in Redis, as text; its streams of past events, which name jobs by id alone, are left out. */
const IN_REDIS = `
  local all = {}
  local read = { list = {'LRANGE', 0, -1}, zset = {'ZRANGE', 0, -1}, set = {'SMEMBERS'}, hash = {'HGETALL'}, string = {'GET'} }
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local how = read[redis.call('TYPE', key).ok]
    if how then
      table.insert(all, key)
      local found = redis.call(how[1], key, unpack(how, 2))
      for _, value in ipairs(type(found) == 'table' and found or { found }) do table.insert(all, value) end
    end
  end
  return table.concat(all, ' ')`.replaceAll(/\s+/g, ' ');

/** Searches tables, bucket and Redis for every id that the erased customer ever had. */
export async function lookForErased(
  fleet: Fleet,
  observer: Observer,
  entries: readonly Entry[],
): Promise<Erased> {
  const { id } = erasedOf(fleet);
  const known = await observer.ask<{ id: string }>(
    `SELECT DISTINCT id FROM chaos.changes WHERE now->>'customer_id' = $1`,
    [id],
  );
  const needles = [id, ...known.map((one) => one.id)];
  const tables = await observer.ask<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'audit_log'`,
  );
  const traces: string[] = [];
  for (const { name } of tables) {
    // What was used stays, by the id of the run alone.
    const sought = name === 'run_usage' ? needles.filter((one) => !one.startsWith('run_')) : needles;
    const rows = await observer.ask<{ row: string }>(
      `SELECT t::text AS row FROM public."${name}" AS t
       WHERE EXISTS (SELECT FROM unnest($1::text[]) AS needle WHERE position(needle IN t::text) > 0)`,
      [sought],
    );
    traces.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  const keys = fleet.store.traces();
  const inRedis = await fleet.redis(`EVAL "${IN_REDIS}" 0`);
  const erasedAt = entries.find((entry) => entry.kind === 'erase' && entry.exitCode === 0)?.at ?? Infinity;
  traces.push(
    ...keys.filter((key) => !key.startsWith('erased/') && needles.some((needle) => key.includes(needle))),
    ...needles.filter((needle) => inRedis.includes(needle)).map((needle) => `redis: ${needle}`),
    ...entries.flatMap((entry) =>
      entry.kind === 'attempt' && isOfErased(fleet, entry) && entry.at > erasedAt ? [entry.path] : [],
    ),
  );
  const { stdout } = await callAdmin(fleet, 'erased', 'list', '--json');
  const stored = new Set(keys);
  const wanted = await observer.ask<{ key: string }>(
    `SELECT object_key AS key FROM assets WHERE status = 'ready' AND object_key IS NOT NULL
     UNION SELECT output_key FROM engine_runs WHERE status = 'completed'
     UNION SELECT concat_ws('/', 'features', customer_id, video_sha256, sha256) FROM features WHERE sha256 IS NOT NULL`,
  );
  return {
    records: JSON.parse(stdout || '[]') as Erased['records'],
    traces,
    missing: wanted.map(({ key }) => key).filter((key) => !stored.has(key)),
  };
}

/** Whether this is about the erased customer, of which nothing but its erasure is judged. */
function isOfErased({ customers }: Fleet, entry: Entry): boolean {
  const index = customers.length - 1;
  if (entry.kind === 'call') return entry.customer === index;
  return entry.kind === 'attempt' && entry.path.startsWith(`/${index}/`);
}

interface Observed {
  entries: readonly Entry[];
  changes: readonly Change[];
  rows: Readonly<Record<Table, readonly Row[]>>;
}

/** All but what is about the erased customer. */
export function ofOthers(fleet: Fleet, { entries, changes, rows }: Observed): Observed {
  const { id } = erasedOf(fleet);
  const isOther = (row: Row | null): boolean =>
    row === null || ![id, null].includes(row['customer_id'] as string);
  const others = Object.entries(rows).map(([table, all]) => [table, all.filter(isOther)]);
  return {
    entries: entries.filter((entry) => !isOfErased(fleet, entry)),
    changes: changes.filter(({ was, now }) => isOther(was) && isOther(now)),
    rows: Object.fromEntries(others) as Observed['rows'],
  };
}
