import { claimDeliveries, claimJob, completeRender, createRender, settleDelivery } from '@lipsync/db';
import { outputKey } from '@lipsync/storage';
import { eventually } from '@lipsync/testkit';
import { identifiers, makeErasable, openWorld, rowsWith, type World } from '../../test/erasable';
import { countSubject, erase } from './erase';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const WORKERS = 4;

/**
 * Callers, workers and dispatchers of two customers until `stop`. `settled` resolves when what the workers are storing
 * at the moment is stored, as their leases make sure in time.
 */
function keepWorking(customers: readonly { customerId: string; videoId: string }[]) {
  const { db, make, storage } = world;
  const rendered = new Map<string, number>();
  const storing = new Set<Promise<unknown>>();
  let isStopped = false;
  const until = async (turn: () => Promise<void>): Promise<void> => {
    while (!isStopped) await turn();
  };
  const call = async ({ customerId, videoId }: { customerId: string; videoId: string }): Promise<void> => {
    const request = {
      video: { asset_id: videoId },
      audio: { asset_id: await make.readyAsset({ customerId, mediaType: 'audio' }) },
      engines: ['musetalk' as const],
      sync_mode: 'cut_off' as const,
      webhook_url: 'https://hooks.example.com/at-work',
    };
    await createRender(db, { customerId, request, idempotency: null, ttlSeconds: 3_600 });
  };
  const work = async (): Promise<void> => {
    const [job] = await make.query<{ id: string; run: string }>(
      `SELECT id, engine_run_id AS run FROM jobs WHERE status = 'queued' AND kind = 'render' ORDER BY random() LIMIT 1`,
    );
    const claim = job && (await claimJob(db, job.id, { workerId: 'worker', leaseSeconds: 30 }));
    if (!job || !claim) return;
    const key = outputKey(job.run, claim.fence);
    const put = storage.put(key, Buffer.from('an output'), { contentType: 'video/mp4' });
    storing.add(put);
    await put.finally(() => storing.delete(put));
    if (await completeRender(db, claim, { outputKey: key, usage: {} }))
      rendered.set(claim.customerId, (rendered.get(claim.customerId) ?? 0) + 1);
  };
  const deliver = async (): Promise<void> => {
    const delaysSeconds = [10];
    const caps = { limit: 10, leaseSeconds: 30, perOrigin: 10, perCustomer: 10, delaysSeconds };
    for (const delivery of (await claimDeliveries(db, caps)).claimed)
      await settleDelivery(
        db,
        delivery,
        { kind: 'delivered', httpStatus: 200 },
        { jitter: 0, delaysSeconds },
      );
  };
  const loops = Promise.all([
    // Who is erased is refused sooner or later, and calls no more.
    ...customers.map((customer) => until(() => call(customer)).catch(() => undefined)),
    ...Array.from({ length: WORKERS }, () => until(work)),
    until(deliver),
  ]);
  return {
    rendered,
    settled: async (): Promise<void> => void (await Promise.allSettled(storing)),
    stop: async (): Promise<void> => {
      isStopped = true;
      await loops;
    },
  };
}

it('erases a customer for whom four workers render, upload and deliver, and nothing of another', async () => {
  const customer = await makeErasable(world, 'the same video');
  const other = await makeErasable(world, 'the same video');
  const atWork = keepWorking([customer, other]);
  const outputsOf = async (id: string): Promise<string[]> => {
    const runs = await world.make.query<{ key: string }>(
      `SELECT output_key AS key FROM engine_runs WHERE customer_id = $1 AND status = 'completed'`,
      [id],
    );
    return runs.map(({ key }) => key);
  };
  for (const { customerId } of [customer, other])
    await eventually(() => expect(atWork.rendered.get(customerId)).toBeGreaterThan(5));

  const needles = new Set(await identifiers(world, customer));
  const subject = { kind: 'customer', id: customer.customerId, customerId: customer.customerId } as const;
  const act = { actor: 'ada', command: 'customers erase' };
  const deps = { ...world, act, wait: atWork.settled, onStep: () => undefined };
  const outcome = await erase(deps, subject, await countSubject(world, subject)).finally(atWork.stop);
  expect(outcome).toMatchObject({ record: { state: 'erased' }, left: [] });
  const rows = await rowsWith(world, ...[...needles].filter((needle) => !needle.startsWith('run_')));
  expect(rows.filter((row) => !row.startsWith('audit_log: '))).toEqual([]);

  // Whatever lies in the bucket belongs to a run that is there.
  const runs = await world.make.query<{ id: string }>('SELECT id FROM engine_runs');
  const known = new Set(runs.map(({ id }) => id));
  const outputs = world.server.traces().filter((key) => key.startsWith('outputs/'));
  expect(outputs.filter((key) => !known.has(key.split('/')[1] ?? ''))).toEqual([]);
  const kept = await outputsOf(other.customerId);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.filter((key) => !outputs.includes(key))).toEqual([]);
});
