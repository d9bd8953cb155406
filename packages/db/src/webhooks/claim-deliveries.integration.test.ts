import { WEBHOOK_RETRY_DELAYS_SECONDS, WEBHOOK_WINDOW_SECONDS } from '@lipsync/domain';
import { addDeliveries } from '../../test/delivery-rows';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { claimDeliveries, type ClaimedDelivery, type DeliveryClaim } from './claim-deliveries';
import { settleDelivery } from './settle-delivery';

const SLOTS = 64;
const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const CAPS = { leaseSeconds: 20, perOrigin: 8, perCustomer: 16, delaysSeconds };
const CROWD = 'https://m-crowd.example.com';
const RETRY = { delaysSeconds, jitter: 0.5 };

let scenario: Scenario;
beforeAll(async () => {
  scenario = await openScenario();
});
beforeEach(() => scenario.empty());
afterAll(() => scenario.close());

describe('claims of deliveries', () => {
  const claim = async (limit: number): Promise<ClaimedDelivery[]> =>
    (await claimDeliveries(scenario.db, { ...CAPS, limit })).claimed;
  const succeed = async (deliveries: readonly ClaimedDelivery[]): Promise<void> => {
    for (const delivery of deliveries)
      await settleDelivery(scenario.db, delivery, { kind: 'delivered', httpStatus: 200 }, RETRY);
  };
  const add = async (
    origin: string,
    change: { count?: number; dueSecondsAgo?: number } = {},
  ): Promise<void> =>
    addDeliveries(scenario.make, { customerId: await scenario.make.customer(), origin, ...change });

  it('give a newcomer its turn while customers with backlogs fill all slots', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
      await add(`https://${name}-crowd.example.com`, { count: 200, dueSecondsAgo: 60 });
    const underWay = await claim(SLOTS);
    expect(underWay).toHaveLength(SLOTS);
    await add('https://one.example.com');
    await succeed(underWay.slice(0, 1));
    expect(await claim(1)).toMatchObject([{ origin: 'https://one.example.com' }]);
  });

  it('reach every origin behind a crowd and many that wait for their next attempt, within a few turns', async () => {
    await add(CROWD, { count: 200, dueSecondsAgo: 60 });
    await add('https://n-#.example.com', { count: 300, dueSecondsAgo: -3_600 });
    const hidden = ['https://a.example.com', 'https://n-000150x.example.com', 'https://z.example.com'];
    for (const origin of hidden) await add(origin);
    // The crowd is at its cap from the first claim on.
    const origins = (await claim(8)).map(({ origin }) => origin);
    for (let turn = 0; turn < 7; turn += 1) origins.push(...(await claim(8)).map(({ origin }) => origin));
    expect(origins.filter((origin) => hidden.includes(origin)).sort()).toEqual(hidden);
    expect(origins.filter((origin) => origin === CROWD)).toHaveLength(CAPS.perOrigin);
  });

  it('give a newcomer its turn at an origin that a customer with a backlog fills', async () => {
    await add(CROWD, { count: 20, dueSecondsAgo: 60 });
    const underWay = await claim(SLOTS);
    expect(underWay).toHaveLength(CAPS.perOrigin);
    const customerId = await scenario.make.customer();
    await addDeliveries(scenario.make, { customerId, origin: CROWD });
    expect(await claim(SLOTS)).toEqual([]);
    await succeed(underWay.slice(0, 1));
    expect(await claim(SLOTS)).toMatchObject([{ customerId }]);
  });

  it('leave the turns at an origin to others once a customer has reached its cap', async () => {
    const crowd = await scenario.make.customer();
    await addDeliveries(scenario.make, { customerId: crowd, origin: 'https://k-#.example.com', count: 16 });
    expect(await claim(SLOTS)).toHaveLength(CAPS.perCustomer);
    await addDeliveries(scenario.make, { customerId: crowd, origin: CROWD, count: 20, dueSecondsAgo: 60 });
    const customerId = await scenario.make.customer();
    await addDeliveries(scenario.make, { customerId, origin: CROWD });
    expect(await claim(SLOTS)).toMatchObject([{ customerId }]);
  });

  it("reach a customer's delivery behind its own backlog at an origin that has all its attempts", async () => {
    const customerId = await scenario.make.customer();
    const count = CAPS.perOrigin + CAPS.perCustomer;
    await addDeliveries(scenario.make, { customerId, origin: CROWD, count, dueSecondsAgo: 60 });
    expect(await claim(SLOTS)).toHaveLength(CAPS.perOrigin);
    await addDeliveries(scenario.make, { customerId, origin: 'https://one.example.com' });
    expect(await claim(SLOTS)).toMatchObject([{ origin: 'https://one.example.com' }]);
  });

  it('keep no place at an origin for deliveries that are not due yet', async () => {
    const waiting = await scenario.make.customer();
    await addDeliveries(scenario.make, { customerId: waiting, origin: 'https://one.example.com' });
    await addDeliveries(scenario.make, { customerId: waiting, origin: CROWD, count: 8, dueSecondsAgo: -60 });
    await add(CROWD, { count: 8 });
    expect(await claim(SLOTS)).toHaveLength(1 + CAPS.perOrigin);
  });

  it('enforce the cap of a customer over all of its origins, however long their backlogs', async () => {
    const customerId = await scenario.make.customer();
    await addDeliveries(scenario.make, {
      customerId,
      origin: 'https://k-#.example.com',
      count: 500,
      dueSecondsAgo: 60,
    });
    await add('https://one.example.com');
    const taken = await claim(SLOTS);
    expect(taken.filter((delivery) => delivery.customerId === customerId)).toHaveLength(CAPS.perCustomer);
    expect(taken.map(({ origin }) => origin)).toContain('https://one.example.com');
  });
});

describe('a claim that meets a locked delivery', () => {
  beforeEach(() => addDelivery());

  const addDelivery = (dueSecondsAgo = 60): Promise<void> =>
    addDeliveries(scenario.make, {
      customerId: scenario.customerId,
      origin: 'https://hooks.example.com',
      dueSecondsAgo,
    });
  const claim = (limit = SLOTS): Promise<DeliveryClaim> => claimDeliveries(scenario.db, { ...CAPS, limit });
  const row = async (): Promise<Record<string, unknown>> =>
    only(
      await scenario.make.query<Record<string, unknown>>(
        'SELECT status, attempts, lease_until AS lease, last_http_status AS http FROM webhook_deliveries',
      ),
    );

  /** The result of `act`, which runs while a transaction that ran `sql` is open. The transaction commits afterwards. */
  async function during<T>(sql: string, act: () => Promise<T>): Promise<T> {
    const holder = await scenario.db.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query(sql);
      const result = await act();
      await holder.query('COMMIT');
      return result;
    } finally {
      holder.release();
    }
  }

  /** Claims while the holder of attempt `attempts` is about to commit that it was delivered. */
  async function claimDuringSettlement(attempts: number): Promise<DeliveryClaim> {
    only((await claim()).claimed);
    await scenario.make.query(
      `UPDATE webhook_deliveries SET attempts = $1, lease_until = now() - interval '1 second'`,
      [attempts],
    );
    return during(
      `UPDATE webhook_deliveries SET status = 'delivered', last_http_status = 200, next_attempt_at = NULL,
         lease_until = NULL, claim_token = NULL`,
      () => claim(),
    );
  }

  it('does not wait: it takes the next one, and a later claim takes this one', async () => {
    await addDelivery(1);
    const held = only(
      await scenario.make.query<{ id: string }>(
        'SELECT id FROM webhook_deliveries ORDER BY next_attempt_at LIMIT 1',
      ),
    );
    const lock = 'SELECT id FROM webhook_deliveries ORDER BY next_attempt_at LIMIT 1 FOR UPDATE';
    const other = only((await during(lock, () => claim(1))).claimed);
    expect(other.id).not.toBe(held.id);
    expect(only((await claim()).claimed).id).toBe(held.id);
  });

  it.each([10, 11])('leaves attempt %i to its holder, which then settles it', async (attempts) => {
    expect(await claimDuringSettlement(attempts)).toEqual({ claimed: [], ended: [] });
    expect(await claim()).toEqual({ claimed: [], ended: [] });
    expect(await row()).toEqual({ status: 'delivered', attempts, lease: null, http: 200 });
  });

  it('cannot lease a settled one: the table refuses it', async () => {
    only((await claim()).claimed);
    await expect(
      scenario.make.query(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL`),
    ).rejects.toThrow('webhook_deliveries_lease_check');
  });
});

interface Age {
  attempts: number;
  ageSeconds: number;
  lastError?: string;
  isExpired?: boolean;
}

describe('a delivery that comes late', () => {
  beforeEach(() =>
    addDeliveries(scenario.make, { customerId: scenario.customerId, origin: 'https://hooks.example.com' }),
  );

  const claim = (): Promise<DeliveryClaim> => claimDeliveries(scenario.db, { ...CAPS, limit: SLOTS });
  const row = async (): Promise<Record<string, unknown>> =>
    only(
      await scenario.make.query<Record<string, unknown>>(
        'SELECT status, attempts, last_error AS error, next_attempt_at AS next, lease_until AS lease FROM webhook_deliveries',
      ),
    );

  async function make({ attempts, ageSeconds, lastError, isExpired = false }: Age): Promise<void> {
    await scenario.make.query(
      `UPDATE webhook_deliveries SET attempts = $1, created_at = now() - make_interval(secs => $2), last_error = $3,
         next_attempt_at = now() - interval '1 second'`,
      [attempts, ageSeconds, lastError ?? null],
    );
    if (isExpired)
      await scenario.make.query(`UPDATE webhook_events SET expires_at = now() - interval '1 second'`);
  }

  const failed = { status: 'failed', next: null, lease: null };

  it('is not attempted again after its window, and keeps its last error', async () => {
    await make({ attempts: 3, ageSeconds: WEBHOOK_WINDOW_SECONDS + 120, lastError: 'http_error' });
    expect(await claim()).toMatchObject({ claimed: [], ended: [{ attempt: 3, lastError: 'http_error' }] });
    expect(await row()).toEqual({ ...failed, attempts: 3, error: 'http_error' });
  });

  it('is attempted once more at the very end of its window', async () => {
    await make({ attempts: 3, ageSeconds: WEBHOOK_WINDOW_SECONDS + 1, lastError: 'http_error' });
    expect(only((await claim()).claimed).attempt).toBe(4);
  });

  it("is attempted at any age if it never was, because the delay was the service's own", async () => {
    await make({ attempts: 0, ageSeconds: 3 * WEBHOOK_WINDOW_SECONDS });
    expect(only((await claim()).claimed).attempt).toBe(1);
  });

  it('is not attempted if its event has expired', async () => {
    await make({ attempts: 0, ageSeconds: 7 * WEBHOOK_WINDOW_SECONDS, isExpired: true });
    expect(await claim()).toMatchObject({ claimed: [], ended: [{ attempt: 0, lastError: null }] });
    expect(await row()).toEqual({ ...failed, attempts: 0, error: null });
  });

  it('counts an attempt without a reported outcome as timed out', async () => {
    await make({ attempts: 1, ageSeconds: WEBHOOK_WINDOW_SECONDS + 120 });
    expect(await claim()).toMatchObject({ claimed: [], ended: [{ attempt: 1, lastError: 'timeout' }] });
    expect(await row()).toMatchObject({ ...failed, error: 'timeout' });
  });

  it('is not deferred beyond its window forever by faults of the service', async () => {
    await make({ attempts: 2, ageSeconds: WEBHOOK_WINDOW_SECONDS - 60, lastError: 'http_error' });
    const delivery = only((await claim()).claimed);
    const outcome = { kind: 'deferred', delaySeconds: 60 } as const;
    expect(await settleDelivery(scenario.db, delivery, outcome, RETRY)).toBe('pending');
    await make({ attempts: 2, ageSeconds: WEBHOOK_WINDOW_SECONDS + 120, lastError: 'http_error' });
    expect(await claim()).toMatchObject({ claimed: [], ended: [{ attempt: 2, lastError: 'http_error' }] });
    expect(await row()).toEqual({ ...failed, attempts: 2, error: 'http_error' });
  });
});
