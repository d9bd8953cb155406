import {
  cancelRender,
  completeRender,
  createRender,
  type ErasureSubject,
  findErasureSubject,
  listAudit,
  registerObject,
} from '@lipsync/db';
import { uploadKey } from '@lipsync/storage';
import {
  type Erasable,
  identifiers,
  makeErasable,
  openWorld,
  rowsWith,
  type World,
} from '../../test/erasable';
import { countSubject, erase, type ErasureOutcome } from './erase';
import { readErasure } from './erasure-list';

const act = { actor: 'ada', command: 'customers erase' };

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

interface Run {
  onStep?: (step: string) => void;
  wait?: (ms: number) => Promise<void>;
}

/** Erases without waiting: nobody is at work here. */
async function eraseNow(
  kind: ErasureSubject['kind'],
  id: string,
  { onStep = () => undefined, wait = async () => undefined }: Run = {},
): Promise<ErasureOutcome> {
  const subject = (await findErasureSubject(world.db, kind, id)) ?? { kind, id, customerId: id };
  const found = await countSubject(world, subject);
  return erase({ ...world, act, onStep, wait }, subject, found);
}

const tracesWith = (needles: readonly string[]): string[] =>
  world.server.traces().filter((key) => needles.some((needle) => key.includes(needle)));

/** What an erasure leaves by design: the operator's act, and that it was done. */
const isKept = (trace: string): boolean => /^(audit_log: |erased\/)/.test(trace);

async function left(needles: readonly string[]): Promise<string[]> {
  // What was used is kept by the id of the run, which nobody was told.
  const told = needles.filter((needle) => !needle.startsWith('run_'));
  return [...(await rowsWith(world, ...told)), ...tracesWith(needles)].filter((trace) => !isKept(trace));
}

/** Everything that is there of a customer, in rows and in the bucket. */
async function everythingOf(customer: Erasable): Promise<string[]> {
  const needles = await identifiers(world, customer);
  return [...(await rowsWith(world, ...needles)), ...tracesWith(needles)];
}

describe('erasing a customer', () => {
  it('leaves nothing of it in any column of any table, in the bucket or in Redis, and everything of others', async () => {
    const customer = await makeErasable(world, 'the same video');
    const other = await makeErasable(world, 'the same video');
    const needles = await identifiers(world, customer);
    const before = await everythingOf(other);
    const messages = await world.queues.listJobs('musetalk');
    expect((await left(needles)).length).toBeGreaterThan(40);

    const { record, left: stillThere } = await eraseNow('customer', customer.customerId);
    expect(stillThere).toEqual([]);
    expect(await left(needles)).toEqual([]);
    expect(await everythingOf(other)).toEqual(before);
    expect(await world.queues.listJobs('musetalk')).toHaveLength(messages.length - 1);

    const found = { renders: 3, preparations: 1, assets: 4, uploads: 1, objects: 11 };
    expect(record).toMatchObject({ kind: 'customer', id: customer.customerId, state: 'erased', found });
    expect(record).toMatchObject({ by: 'ada' });
    expect(await readErasure(world.storage, 'customer', customer.customerId)).toEqual(record);
    expect(JSON.stringify(record)).not.toContain(customer.mark);
    const acts = await listAudit(world.db, { sinceSeconds: 600, customerId: customer.customerId });
    expect(acts).toMatchObject([
      { ...act, details: { state: 'erasing' } },
      { ...act, details: { erased: true, renders: 3, objects: 11 } },
    ]);
    expect(JSON.stringify(acts)).not.toContain(customer.mark);
  });

  it('keeps what was used, and no longer whose it was', async () => {
    const customer = await makeErasable(world);
    const used = `SELECT id, customer_id, render_id, output_seconds FROM run_usage`;
    const before = await world.make.query<{ id: string }>(`${used} WHERE customer_id = $1`, [
      customer.customerId,
    ]);
    expect(before).toMatchObject([{ output_seconds: 4 }]);
    await eraseNow('customer', customer.customerId);
    const anonymous = { customer_id: null, render_id: null };
    const ids = before.map(({ id }) => id);
    expect(await world.make.query(`${used} WHERE id = ANY($1)`, [ids])).toEqual(
      before.map((row) => ({ ...row, ...anonymous })),
    );
  });

  it('is not done while a signed address can be uploaded to, and is when it is repeated afterwards', async () => {
    const customer = await makeErasable(world);
    const needles = await identifiers(world, customer);
    const expire = (when: string) =>
      world.make.query<{ id: string }>(
        `UPDATE uploads SET expires_at = now() + $2::interval WHERE customer_id = $1 RETURNING id`,
        [customer.customerId, when],
      );
    const [upload] = await expire('10 minutes');
    const first = await eraseNow('customer', customer.customerId);
    expect(first.left).toEqual([
      expect.stringMatching(/^1 signed upload URLs.*until 20.*: erase again then$/),
    ]);
    expect((await readErasure(world.storage, 'customer', customer.customerId))?.state).toBe('stopped');
    const late = uploadKey(upload?.id ?? '');
    await world.storage.put(late, Buffer.from(customer.mark), { contentType: 'video/mp4' });
    await expire('-16 minutes');
    expect((await eraseNow('customer', customer.customerId)).left).toEqual([]);
    expect(await left(needles)).toEqual([]);
  });

  it('lets nobody create, complete or keep anything for it from its first step on', async () => {
    const { db, make } = world;
    const customer = await makeErasable(world);
    const [run] = await make.query<{ id: string; fence: number }>(
      `SELECT jobs.id, fence FROM jobs JOIN engine_runs ON engine_runs.id = engine_run_id WHERE render_id = $1`,
      [customer.runningId],
    );
    const lease = { jobId: run?.id ?? '', fence: run?.fence ?? 0 };
    const { customerId } = customer;
    const object = { customerId, videoSha256: 'a'.repeat(64), sha256: 'b'.repeat(64) };
    const request = {
      video: { asset_id: customer.videoId },
      audio: { url: 'https://media.example.com/a.wav' },
      engines: ['musetalk' as const],
      sync_mode: 'cut_off' as const,
    };
    const create = { customerId, request, idempotency: null, ttlSeconds: 3_600 };
    const onStep = (step: string): void => {
      if (step.startsWith('work ended')) throw new Error('killed');
    };
    await expect(eraseNow('customer', customerId, { onStep })).rejects.toThrow('killed');
    for (const when of ['while it is erased', 'afterwards']) {
      expect(await completeRender(db, lease, { outputKey: when, usage: {} })).toBe(false);
      await expect(registerObject(db, object, 1)).rejects.toThrow('is being erased');
      await expect(createRender(db, create)).rejects.toThrow();
      await eraseNow('customer', customerId);
    }
    expect(await left(await identifiers(world, customer))).toEqual([]);
  });

  it('tells nobody of the work that it ends', async () => {
    const customer = await makeErasable(world);
    const pending = `SELECT FROM webhook_deliveries WHERE customer_id = $1 AND status = 'pending'`;
    expect(await world.make.query(pending, [customer.customerId])).not.toEqual([]);
    const onStep = (step: string): void => {
      if (step.startsWith('work ended')) throw new Error('killed');
    };
    await expect(eraseNow('customer', customer.customerId, { onStep })).rejects.toThrow('killed');
    expect(await world.make.query(pending, [customer.customerId])).toEqual([]);
    const events = await world.make.query('SELECT FROM webhook_events WHERE render_id = $1', [
      customer.runningId,
    ]);
    expect(events).toEqual([]);
  });

  it('waits for those who may still store something', async () => {
    const customer = await makeErasable(world);
    const waits: number[] = [];
    await eraseNow('customer', customer.customerId, { wait: async (ms) => void waits.push(ms) });
    // The lease of the running job, or the object that was registered a moment ago.
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThan(30_000);
  });

  it('killed after each step in turn, is on record as done only when it is, and ends when it is repeated', async () => {
    const customer = await makeErasable(world);
    const needles = await identifiers(world, customer);
    const done = new Set<string>();
    const onStep = (step: string): void => {
      if (done.has(step)) return;
      done.add(step);
      throw new Error('killed');
    };
    /** How a run ends, and what is on record then. */
    const run = async (): Promise<string> => {
      const ended = await eraseNow('customer', customer.customerId, { onStep }).then(
        () => 'ended',
        (error: unknown) => String(error),
      );
      return `${ended}, ${(await readErasure(world.storage, 'customer', customer.customerId))?.state}`;
    };
    const runs: string[] = [];
    while (!runs.includes('ended, erased') && runs.length < 100) runs.push(await run());
    expect(new Set(runs)).toEqual(
      new Set(['Error: killed, begun', 'Error: killed, stopped', 'ended, erased']),
    );
    expect(done.size).toBeGreaterThan(12);
    const record = await readErasure(world.storage, 'customer', customer.customerId);
    expect(record?.found).toMatchObject({ renders: 3, objects: 11 });
    expect(await left(needles)).toEqual([]);
  });
});

describe('erasing a render', () => {
  it('takes its outputs, its webhook and its rows, and leaves what it was made from', async () => {
    const customer = await makeErasable(world);
    const { customerId, completedId, runningId, videoId } = customer;
    const runs = await world.make.query<{ id: string }>('SELECT id FROM engine_runs WHERE render_id = $1', [
      completedId,
    ]);
    const runIds = runs.map(({ id }) => id);
    expect(tracesWith(runIds)).toHaveLength(3);
    const { record } = await eraseNow('render', completedId);
    expect(record).toMatchObject({ state: 'erased', customer_id: customerId });
    expect(record.found).toMatchObject({ renders: 1, assets: 0, objects: 3 });
    expect(tracesWith([...runIds, completedId]).filter((trace) => !isKept(trace))).toEqual([]);
    const there = (await rowsWith(world, completedId)).map((row) => row.replace(/:.*/s, ''));
    // Its use is billed, to its customer.
    expect(new Set(there)).toEqual(new Set(['audit_log', 'run_usage']));
    expect(await rowsWith(world, runningId)).not.toEqual([]);
    expect(tracesWith([videoId])).not.toEqual([]);
  });

  it('ends one that runs, and tells nobody', async () => {
    const { runningId } = await makeErasable(world);
    expect((await eraseNow('render', runningId)).left).toEqual([]);
    const there = (await rowsWith(world, runningId)).map((row) => row.replace(/:.*/s, ''));
    expect(new Set(there)).toEqual(new Set(['audit_log', 'run_usage']));
  });

  it('waits for a worker that may not know yet that its render was cancelled', async () => {
    const customer = await makeErasable(world);
    const { customerId, runningId } = customer;
    await cancelRender(world.db, customerId, runningId);
    const waits: number[] = [];
    await eraseNow('render', runningId, { wait: async (ms) => void waits.push(ms) });
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThan(30_000);
  });
});

describe('erasing an asset', () => {
  it('takes all that was made from it, and what is kept of its video unless another asset has the same bytes', async () => {
    const customer = await makeErasable(world);
    const { customerId, videoId, completedId } = customer;
    const features = () => tracesWith([`features/${customerId}/`]);
    const [video] = await world.make.query<{ sha256: string }>('SELECT sha256 FROM assets WHERE id = $1', [
      videoId,
    ]);
    const twin = await world.make.readyAsset({
      customerId,
      mediaType: 'video',
      sha256: video?.sha256 ?? '',
    });
    const { record } = await eraseNow('asset', videoId);
    expect(record).toMatchObject({ state: 'erased', found: { renders: 3, preparations: 1, assets: 1 } });
    expect((await rowsWith(world, videoId)).filter((row) => !isKept(row))).toEqual([]);
    const renders = (await rowsWith(world, completedId)).map((row) => row.replace(/:.*/s, ''));
    expect(new Set(renders)).toEqual(new Set(['run_usage']));
    expect(features()).toHaveLength(1);
    await eraseNow('asset', twin);
    expect(features()).toEqual([]);
  });

  it('waits for a worker that may still keep what a render that has just ended learned of the video', async () => {
    const { customerId, videoId, completedId } = await makeErasable(world);
    const longAgo = `now() - interval '1 hour'`;
    for (const change of [
      `jobs SET status = 'finished', lease_until = NULL`,
      `feature_objects SET kept_until = now()`,
      `preparations SET updated_at = ${longAgo}`,
      `engine_runs SET updated_at = ${longAgo}`,
    ])
      await world.make.query(`UPDATE ${change} WHERE customer_id = $1`, [customerId]);
    await world.make.query('UPDATE engine_runs SET updated_at = now() WHERE render_id = $1', [completedId]);
    const waits: number[] = [];
    await eraseNow('asset', videoId, { wait: async (ms) => void waits.push(ms) });
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThan(60_000);
  });
});
