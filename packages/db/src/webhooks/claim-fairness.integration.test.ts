import { WEBHOOK_RETRY_DELAYS_SECONDS } from '@lipsync/domain';
import { Client } from 'pg';
import { addDeliveries } from '../../test/delivery-rows';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries';
import { settleDelivered } from './settle-deliveries';

const SLOTS = 64;
const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const CAPS = { leaseSeconds: 20, perOrigin: 8, perCustomer: 16, delaysSeconds };
/** Postgres' default. */
const JIT_ABOVE_COST = 100_000;
const CROWD = 'https://m-crowd.example.com';

describe('claims of deliveries', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
  });
  afterEach(() => scenario.close());

  const claim = async (limit: number): Promise<ClaimedDelivery[]> =>
    (await claimDeliveries(scenario.db, { ...CAPS, limit })).claimed;
  const succeed = (deliveries: readonly ClaimedDelivery[]): Promise<unknown> =>
    settleDelivered(
      scenario.db,
      deliveries.map(({ id, claimToken }) => ({ id, claimToken, httpStatus: 200 })),
    );
  const add = async (
    origin: string,
    change: { count?: number; dueSecondsAgo?: number } = {},
  ): Promise<void> =>
    addDeliveries(scenario.make, { customerId: await scenario.make.customer(), origin, ...change });

  /**
   * Claims repeatedly, as a dispatcher whose attempts at the crowd are answered, one between each claim and the next.
   */
  async function turnsUntil(origin: string, turnsMax: number): Promise<number> {
    let underWay: ClaimedDelivery[] = [];
    for (let turn = 1; turn <= turnsMax; turn += 1) {
      const taken = await claim(SLOTS - underWay.length);
      if (taken.some((delivery) => delivery.origin === origin)) return turn;
      underWay = [...underWay, ...taken];
      await succeed(underWay.splice(0, 1));
    }
    return Infinity;
  }

  it('reach an origin behind the long backlog of one that answers in between', async () => {
    await add(CROWD, { count: 3_000, dueSecondsAgo: 60 });
    await add('https://one.example.com');
    expect(await turnsUntil('https://one.example.com', 20)).toBe(1);
  });

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

  it('reach a customer behind the long backlog of another at the same origin, within a few turns', async () => {
    await add(CROWD, { count: 3_000, dueSecondsAgo: 60 });
    await add('https://n-#.example.com', { count: 300, dueSecondsAgo: -3_600 });
    const customerId = await scenario.make.customer();
    await addDeliveries(scenario.make, { customerId, origin: CROWD });
    const customers: string[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const taken = await claim(8);
      customers.push(...taken.map((delivery) => delivery.customerId));
      await succeed(taken);
    }
    expect(customers).toContain(customerId);
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

  it('cost less than what Postgres compiles (JIT), and read little, even if statistics show nothing pending', async () => {
    await add('https://past-#.example.com', { count: 3_000 });
    await scenario.make.query(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL`);
    await scenario.make.query('VACUUM ANALYZE webhook_deliveries');
    await add(CROWD, { count: 3_000, dueSecondsAgo: 60 });
    const sent = jest.spyOn(Client.prototype, 'query');
    await claim(SLOTS);
    const statements: unknown[] = sent.mock.calls.flat();
    const { text, values } = only(statements.filter(isClaim));
    sent.mockRestore();
    await scenario.make.query('UPDATE webhook_deliveries SET lease_until = NULL, claim_token = NULL');
    const [row] = await scenario.make.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values,
    );
    const plan = row?.['QUERY PLAN'][0].Plan;
    expect(plan?.['Total Cost']).toBeLessThan(JIT_ABOVE_COST);
    expect(plan?.['Shared Hit Blocks']).toBeLessThan(1_000);
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

interface Claim {
  text: string;
  values: unknown[];
}

function isClaim(query: unknown): query is Claim {
  return typeof query === 'object' && query !== null && 'name' in query && query.name === 'claim_deliveries';
}
