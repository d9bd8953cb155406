import { WEBHOOK_RETRY_DELAYS_SECONDS } from '@lipsync/domain';
import { TEST_ACT } from '@lipsync/testkit';
import { codeOf, only, openScenario, type Scenario } from '../../test/scenario';
import { listAudit } from '../audit/audit-log';
import { getPreparation } from '../inputs/preparations';
import { stopOpenPreparations } from '../inputs/stop-preparations';
import { completeUpload } from '../inputs/uploads';
import { completeAnalyze, completeRender } from '../jobs/complete';
import { readBacklog } from '../queue/backlog';
import { cancelOpenRenders } from '../renders/cancel-render';
import { claimDeliveries, type DeliveryClaim } from '../webhooks/claim-deliveries';
import { settleDelivery } from '../webhooks/settle-delivery';
import { dropDeliveries, setCustomerState } from './suspension';

const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const CAPS = { perOrigin: 8, perCustomer: 16 };

describe('a suspended customer', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  const suspend = () => setCustomerState(scenario.db, TEST_ACT, scenario.customerId, 'suspended');
  const resume = () => setCustomerState(scenario.db, TEST_ACT, scenario.customerId, 'active');
  const drop = () => dropDeliveries(scenario.db, TEST_ACT, scenario.customerId);
  const claim = (): Promise<DeliveryClaim> =>
    claimDeliveries(scenario.db, { ...CAPS, limit: 8, leaseSeconds: 20, delaysSeconds });
  /** A render that a worker completes. */
  const endRender = async (): Promise<string> => {
    const { render } = await scenario.render();
    const lease = await scenario.claim(await scenario.jobOf(render.id));
    expect(await completeRender(scenario.db, lease, { outputKey: 'o', usage: {} })).toBe(true);
    return render.id;
  };

  it('is on record each time that it changes, and what it was before is known', async () => {
    const { db } = scenario;
    const customerId = await scenario.make.customer();
    const states: (string | null)[] = [];
    for (const state of ['suspended', 'suspended', 'active'] as const)
      states.push(await setCustomerState(db, TEST_ACT, customerId, state));
    expect(states).toEqual(['active', 'suspended', 'suspended']);
    expect(await listAudit(db, { sinceSeconds: 60, customerId })).toMatchObject([
      { details: { state: 'suspended' } },
      { details: { state: 'active' } },
    ]);
    expect(await setCustomerState(db, TEST_ACT, 'cus_nobody', 'suspended')).toBeNull();
  });

  it('creates nothing any more, even in a request whose key was accepted just before', async () => {
    const { upload } = await scenario.upload();
    await suspend();
    const inspect = async () => ({ sizeBytes: upload.sizeBytes, etag: 'e' });
    const requests = [
      () => scenario.render(),
      () => scenario.preparation(),
      () => scenario.upload(),
      () => scenario.asset(),
      () => completeUpload(scenario.db, scenario.customerId, upload.id, inspect),
    ];
    for (const request of requests) expect(await codeOf(request())).toBe('invalid_api_key');
    expect(await scenario.make.query(`SELECT FROM jobs`)).toEqual([]);
    await resume();
    for (const request of requests) expect(await codeOf(request())).toBeNull();
  });

  it('has nothing left to cancel that was created meanwhile', async () => {
    const { db, make, customerId } = scenario;
    const creates = Array.from({ length: 12 }, () => codeOf(scenario.render()));
    await suspend();
    await cancelOpenRenders(db, customerId, TEST_ACT);
    for (const code of await Promise.all(creates)) expect([null, 'invalid_api_key']).toContain(code);
    expect(await make.query('SELECT FROM renders WHERE completed_at IS NULL')).toEqual([]);
  });

  it('has its work under way ended by the workers, and its deliveries held until it is resumed', async () => {
    const { render } = await scenario.render();
    await suspend();
    const lease = await scenario.claim(await scenario.jobOf(render.id));
    expect(await completeRender(scenario.db, lease, { outputKey: 'o', usage: {} })).toBe(true);
    expect(await claim()).toEqual({ claimed: [], ended: [] });
    expect(await readBacklog(scenario.db, CAPS)).toMatchObject({
      webhooksDue: 0,
      webhooksOldestDueSeconds: 0,
    });
    await resume();
    expect((await readBacklog(scenario.db, CAPS)).webhooksDue).toBe(1);
    expect(only((await claim()).claimed)).toMatchObject({ renderId: render.id, attempt: 1 });
  });

  it('holds up the deliveries of nobody else', async () => {
    await endRender();
    await suspend();
    const other = await scenario.make.customer();
    const { render } = await scenario.render({}, other);
    const lease = await scenario.claim(await scenario.jobOf(render.id));
    await completeRender(scenario.db, lease, { outputKey: 'o', usage: {} });
    expect(only((await claim()).claimed)).toMatchObject({ customerId: other });
  });

  it('has its renders cancelled, each on record, where that is asked for', async () => {
    const { db, customerId } = scenario;
    const ended = await endRender();
    const open = [(await scenario.render()).render.id, (await scenario.render()).render.id];
    const lease = await scenario.claim(await scenario.jobOf(open[0] ?? ''));
    await suspend();
    expect(await cancelOpenRenders(db, customerId, TEST_ACT)).toBe(2);
    expect(await completeRender(db, lease, { outputKey: 'o', usage: {} })).toBe(false);
    expect(await cancelOpenRenders(db, customerId, TEST_ACT)).toBe(0);
    const rows = await listAudit(db, { sinceSeconds: 60, customerId });
    const own = rows.map(({ subjectId }) => subjectId ?? '').filter((id) => [ended, ...open].includes(id));
    expect(own).toEqual(open);
  });

  it('has its preparations failed with their events and downloads, each on record, where that is asked for', async () => {
    const { db, make, customerId } = scenario;
    const videoId = await make.readyAsset({ customerId, mediaType: 'video' });
    const analyzed = (await scenario.preparation({ asset_id: videoId })).preparation;
    const fetched = (await scenario.preparation()).preparation;
    const [job] = await make.query<{ id: string }>('SELECT id FROM jobs WHERE preparation_id = $1', [
      analyzed.id,
    ]);
    const lease = await scenario.claim(job?.id ?? '');
    await suspend();
    expect(await stopOpenPreparations(db, customerId, TEST_ACT)).toBe(2);
    expect(await stopOpenPreparations(db, customerId, TEST_ACT)).toBe(0);

    const track = { version: '1', analyzerVersion: '1', frames: 1, fps: 25, width: 2, height: 2 };
    expect(await completeAnalyze(db, lease, { ...track, durationSeconds: 1 })).toBe(false);
    const ids = [analyzed.id, fetched.id];
    const stopped = {
      errorCode: 'worker_lost',
      errorDetail: 'The operator of the service stopped it; create it again.',
    };
    for (const id of ids)
      expect(await getPreparation(db, customerId, id)).toMatchObject({
        preparation: { status: 'failed', ...stopped },
        webhookEventId: expect.stringMatching(/^evt_/) as string,
      });
    expect(await make.query(`SELECT FROM jobs WHERE status <> 'finished'`)).toEqual([]);
    const assets = [videoId, fetched.videoAssetId];
    const states = await make.query('SELECT id, status FROM assets WHERE id = ANY($1) ORDER BY created_at', [
      assets,
    ]);
    expect(states).toEqual([
      { id: videoId, status: 'ready' },
      { id: fetched.videoAssetId, status: 'failed' },
    ]);
    const rows = await listAudit(db, { sinceSeconds: 60, customerId });
    expect(rows.map(({ subjectId }) => subjectId)).toEqual(expect.arrayContaining(ids));
  });

  it('loses its deliveries where that is asked for, those under way as well, and an active one none', async () => {
    await endRender();
    const attempted = only((await claim()).claimed);
    await endRender();
    expect(await drop()).toBe(0);
    await suspend();
    expect(await drop()).toBe(2);
    expect(await drop()).toBe(0);
    const outcome = { kind: 'failed', error: 'timeout' } as const;
    expect(await settleDelivery(scenario.db, attempted, outcome, { delaysSeconds, jitter: 0.5 })).toBeNull();
    await resume();
    expect(await claim()).toEqual({ claimed: [], ended: [] });
  });
});
