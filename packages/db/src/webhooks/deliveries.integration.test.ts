import { WEBHOOK_RETRY_DELAYS_SECONDS, WEBHOOK_WINDOW_SECONDS } from '@lipsync/domain';
import { TEST_ACT } from '@lipsync/testkit';
import { DAY_SECONDS, only, openScenario, type Scenario, WEBHOOK_URL } from '../../test/scenario';
import { cancelRender } from '../renders/cancel-render';
import { claimDeliveries, type ClaimedDelivery, type DeliveryClaimOptions } from './claim-deliveries';
import { getDeliveryByEvent, redeliver } from './deliveries';
import { type DeliveryOutcome, settleDelivery } from './settle-delivery';

const options: DeliveryClaimOptions = {
  limit: 100,
  leaseSeconds: 20,
  perOrigin: 100,
  perCustomer: 100,
  delaysSeconds: WEBHOOK_RETRY_DELAYS_SECONDS,
};

describe('deliveries', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  /** Creates the event of a cancelled render. Returns its id. */
  async function event(url = WEBHOOK_URL, owner = scenario.customerId): Promise<string> {
    const { render } = await scenario.render({ webhook_url: url }, owner);
    const { webhookEventId } = await cancelRender(scenario.db, owner, render.id);
    if (webhookEventId === null) throw new Error('no event');
    return webhookEventId;
  }

  const claim = async (change: Partial<DeliveryClaimOptions> = {}): Promise<ClaimedDelivery[]> =>
    (await claimDeliveries(scenario.db, { ...options, ...change })).claimed;

  const settle = (
    delivery: ClaimedDelivery,
    outcome: DeliveryOutcome,
    delaysSeconds = options.delaysSeconds,
  ): ReturnType<typeof settleDelivery> =>
    settleDelivery(scenario.db, delivery, outcome, { jitter: 0.5, delaysSeconds });

  const succeed = (delivery: ClaimedDelivery, httpStatus = 200): ReturnType<typeof settleDelivery> =>
    settle(delivery, { kind: 'delivered', httpStatus });

  const stateOf = async (
    eventId: string,
  ): Promise<Awaited<ReturnType<typeof getDeliveryByEvent>>['delivery']> =>
    (await getDeliveryByEvent(scenario.db, scenario.customerId, eventId)).delivery;

  /** Slightly before now: times are kept in milliseconds, and rounding could put now() into the future. */
  async function makeDue(): Promise<void> {
    await scenario.make.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 ms' WHERE status = 'pending'`,
    );
  }

  it('are claimed by one dispatcher only, with the stored bytes', async () => {
    const eventId = await event();
    const rounds = await Promise.all(Array.from({ length: 4 }, () => claim()));
    const delivery = only(rounds.flat());
    expect(delivery).toMatchObject({
      eventId,
      attempt: 1,
      url: WEBHOOK_URL,
      origin: 'https://hooks.example.com',
      eventType: 'render.cancelled',
      customerId: scenario.customerId,
    });
    expect(JSON.parse(delivery.body)).toMatchObject({ id: eventId, type: 'render.cancelled' });
    expect(await claim()).toEqual([]);
  });

  it('belong to an event that lives as long as its record does, from its own creation on', async () => {
    const { render } = await scenario.render();
    await scenario.make.query(
      `UPDATE renders SET created_at = created_at - interval '1 day', expires_at = expires_at - interval '1 day'`,
    );
    const { webhookEventId } = await cancelRender(scenario.db, scenario.customerId, render.id);
    const { event: ofRender } = await getDeliveryByEvent(
      scenario.db,
      scenario.customerId,
      webhookEventId ?? '',
    );
    expect(ofRender.expiresAt.getTime() - ofRender.createdAt.getTime()).toBe(7 * DAY_SECONDS * 1000);
  });

  it('carry the trace of the request that created their record, and how long they were due', async () => {
    const traceParent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const eventId = await event();
    await scenario.make.query(
      `UPDATE renders SET trace_parent = $2 WHERE id = (SELECT render_id FROM webhook_events WHERE id = $1)`,
      [eventId, traceParent],
    );
    await scenario.make.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '90 seconds' WHERE event_id = $1`,
      [eventId],
    );
    const delivery = only(await claim());
    expect(delivery.traceParent).toBe(traceParent);
    expect(delivery.waitedSeconds).toBeGreaterThanOrEqual(90);
    expect(delivery.waitedSeconds).toBeLessThan(150);
  });

  it('identify the record whose end they report, even when they have ended', async () => {
    const { event: render } = await getDeliveryByEvent(scenario.db, scenario.customerId, await event());
    const { event: preparation } = await getDeliveryByEvent(scenario.db, scenario.customerId, await event());
    const preparationId = scenario.db.newId('prp');
    await scenario.make.query(
      `UPDATE webhook_events SET render_id = NULL, preparation_id = $2, type = 'preparation.completed' WHERE id = $1`,
      [preparation.id, preparationId],
    );
    const expected = [
      { eventId: render.id, renderId: render.renderId, preparationId: null },
      { eventId: preparation.id, renderId: null, preparationId },
    ];
    expect(render.renderId).toMatch(/^ren_/);
    expect(await claim()).toMatchObject(expected);
    await scenario.make.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 s', lease_until = now() - interval '1 s'`,
    );
    const { ended } = await claimDeliveries(scenario.db, { ...options, delaysSeconds: [] });
    expect(ended).toHaveLength(2);
    expect(ended).toMatchObject(expected);
  });

  it('carry the active signing secret of their customer', async () => {
    const customerId = await scenario.make.customer();
    const hour = 3_600_000;
    const at = (hoursFromNow: number): Date => new Date(Date.now() + hoursFromNow * hour);
    const past = { customerId, createdAt: at(-3), activeFrom: null, retiredAt: at(-2) };
    const present = { customerId, createdAt: at(-2), activeFrom: at(-2), retiredAt: at(1) };
    const next = { customerId, createdAt: at(-1), activeFrom: at(1) };
    await scenario.db.prisma.webhookSecret.createMany({
      data: [
        { ...past, id: 'sec_1', ciphertext: Uint8Array.of(1, 2, 3) },
        { ...present, id: 'sec_2', ciphertext: Uint8Array.of(4, 5, 6) },
        { ...next, id: 'sec_3', ciphertext: Uint8Array.of(7, 8, 9) },
      ],
    });
    await event(WEBHOOK_URL, customerId);
    expect([...(only(await claim()).secret ?? [])]).toEqual([4, 5, 6]);
  });

  it('are never attempted again once delivered, and show nothing of an earlier failure', async () => {
    const eventId = await event();
    await settle(only(await claim()), { kind: 'failed', error: 'http_error', httpStatus: 500 });
    await makeDue();
    const delivery = only(await claim());
    expect(await succeed(delivery, 204)).toBe('delivered');
    expect(await settle(delivery, { kind: 'failed', error: 'timeout' })).toBeNull();
    expect(await stateOf(eventId)).toMatchObject({
      status: 'delivered',
      attempts: 2,
      lastHttpStatus: 204,
      lastError: null,
      nextAttemptAt: null,
    });
    await makeDue();
    expect(await claim()).toEqual([]);
  });

  it('are retried after a failure according to the schedule, at most eleven times', async () => {
    const eventId = await event();
    for (let attempt = 1; attempt <= 11; attempt += 1) {
      const delivery = only(await claim());
      expect(delivery.attempt).toBe(attempt);
      const settled = await settle(delivery, { kind: 'failed', error: 'http_error', httpStatus: 500 });
      const { status, nextAttemptAt, updatedAt } = await stateOf(eventId);
      expect(settled).toBe(status);
      const delay = nextAttemptAt === null ? null : nextAttemptAt.getTime() - updatedAt.getTime();
      expect(delay).toBe([10_000, 60_000, 300_000][attempt - 1] ?? delay);
      expect(status).toBe(attempt < 11 ? 'pending' : 'failed');
      expect(await claim()).toEqual([]);
      await makeDue();
    }
    expect(await claim()).toEqual([]);
    expect(await stateOf(eventId)).toMatchObject({
      attempts: 11,
      lastHttpStatus: 500,
      lastError: 'http_error',
    });
  });

  it('do not lose an attempt if the receiver was not at fault', async () => {
    const eventId = await event();
    const deferred = await settle(only(await claim()), { kind: 'deferred', delaySeconds: 30 });
    expect(deferred).toBe('pending');
    expect(await stateOf(eventId)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await claim()).toEqual([]);
  });

  it('are taken over from a dispatcher that vanished, and its late outcome does not count', async () => {
    const eventId = await event();
    const lost = only(await claim());
    await scenario.make.query(`UPDATE webhook_deliveries SET lease_until = now() - interval '1 second'`);
    const taken = only(await claim());
    expect(taken).toMatchObject({ id: lost.id, attempt: 2, body: lost.body });
    expect(await succeed(lost)).toBeNull();
    expect(await succeed(taken)).toBe('delivered');
    expect((await stateOf(eventId)).attempts).toBe(2);
  });

  it('fail if the last attempt was lost with its dispatcher', async () => {
    const eventId = await event();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      expect(only(await claim({ delaysSeconds: [0] })).attempt).toBe(attempt);
      await scenario.make.query(`UPDATE webhook_deliveries SET lease_until = now() - interval '1 second'`);
    }
    const { claimed, ended } = await claimDeliveries(scenario.db, { ...options, delaysSeconds: [0] });
    expect(claimed).toEqual([]);
    expect(ended).toMatchObject([{ eventId, attempt: 2, lastError: 'timeout' }]);
    expect(await stateOf(eventId)).toMatchObject({
      status: 'failed',
      attempts: 2,
      lastError: 'timeout',
      nextAttemptAt: null,
    });
  });

  it('are claimed oldest first, as many as requested', async () => {
    const events = [await event(), await event(), await event()];
    expect((await claim({ limit: 2 })).map(({ eventId }) => eventId)).toEqual(events.slice(0, 2));
  });

  it('can be repeated by an operator, who gets a new delivery of the same event', async () => {
    const eventId = await event();
    const first = only(await claim());
    expect(await settle(first, { kind: 'failed', error: 'timeout' }, [])).toBe('failed');
    expect((await stateOf(eventId)).status).toBe('failed');
    await redeliver(scenario.db, TEST_ACT, eventId);
    const second = only(await claim());
    expect(second).toMatchObject({ eventId, attempt: 1, body: first.body });
    expect(second.id).not.toBe(first.id);
    expect((await stateOf(eventId)).id).toBe(second.id);
    expect(await redeliver(scenario.db, TEST_ACT, 'evt_unknown')).toBeNull();
  });

  it('become due at once when an operator repeats a pending one', async () => {
    const eventId = await event();
    const first = only(await claim());
    await settle(first, { kind: 'failed', error: 'timeout' });
    expect((await redeliver(scenario.db, TEST_ACT, eventId))?.id).toBe(first.id);
    expect(only(await claim()).id).toBe(first.id);
  });

  it.each<[string, (delivery: ClaimedDelivery) => Promise<string | null>]>([
    ['succeeds', (delivery) => succeed(delivery)],
    ['fails', (delivery) => settle(delivery, { kind: 'failed', error: 'timeout' })],
    ['is deferred', (delivery) => settle(delivery, { kind: 'deferred', delaySeconds: 3_600 })],
  ])('are repeated as a new one while an attempt is under way that %s afterwards', async (_, end) => {
    const eventId = await event();
    const first = only(await claim());
    const added = await redeliver(scenario.db, TEST_ACT, eventId);
    expect(added?.id).not.toBe(first.id);
    // The attempt still belongs to its dispatcher, which settles it.
    expect(await end(first)).not.toBeNull();
    expect(only(await claim())).toMatchObject({ id: added?.id, eventId, attempt: 1 });
  });

  it('are sent once more at once even if their last attempt was lost with its dispatcher', async () => {
    const eventId = await event();
    const lost = only(await claim({ delaysSeconds: [] }));
    await scenario.make.query(
      `UPDATE webhook_deliveries SET lease_until = now() - interval '1 second', next_attempt_at = now() + interval '1 hour'`,
    );
    expect((await redeliver(scenario.db, TEST_ACT, eventId))?.id).toBe(lost.id);
    expect(only(await claim({ delaysSeconds: [] }))).toMatchObject({ id: lost.id, attempt: 2 });
    expect(await succeed(lost)).toBeNull();
  });

  it('are repeated as a new one if a claim would fail the pending one for its age', async () => {
    const eventId = await event();
    const first = only(await claim());
    await settle(first, { kind: 'failed', error: 'timeout' });
    await scenario.make.query(
      'UPDATE webhook_deliveries SET created_at = now() - make_interval(secs => $1)',
      [WEBHOOK_WINDOW_SECONDS + 120],
    );
    await redeliver(scenario.db, TEST_ACT, eventId);
    const second = only(await claim());
    expect(second).toMatchObject({ eventId, attempt: 1 });
    expect(second.id).not.toBe(first.id);
    const former = await scenario.db.prisma.webhookDelivery.findUniqueOrThrow({ where: { id: first.id } });
    expect(former).toMatchObject({
      status: 'failed',
      attempts: 1,
      lastError: 'timeout',
      nextAttemptAt: null,
    });
  });

  it('are repeated unchanged, however old, if they were never attempted', async () => {
    const eventId = await event();
    const { id } = await stateOf(eventId);
    await scenario.make.query(
      `UPDATE webhook_deliveries
       SET created_at = now() - make_interval(secs => $1), next_attempt_at = now() + interval '1 hour'`,
      [WEBHOOK_WINDOW_SECONDS + 120],
    );
    expect((await redeliver(scenario.db, TEST_ACT, eventId))?.id).toBe(id);
    expect(only(await claim()).id).toBe(id);
  });
});
