import { TEST_ACT } from '@lipsync/testkit';
import { openScenario, type Scenario } from '../../test/scenario';
import { listAudit } from '../audit/audit-log';
import { createCustomer, listCustomers, setLimits } from './customers';
import { getSecret, rotateSecret } from './webhook-secrets';

describe('customers', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  it('have a webhook secret of their own from the start, and one active secret after every rotation', async () => {
    const { db } = scenario;
    const { id } = await createCustomer(db, TEST_ACT, {
      name: 'Ada',
      sealSecret: (owner) => new TextEncoder().encode(owner),
    });
    expect(new TextDecoder().decode((await getSecret(db, id)) ?? undefined)).toBe(id);
    await Promise.all([1, 2, 3].map((n) => rotateSecret(db, TEST_ACT, id, Uint8Array.of(n))));
    expect(await db.prisma.webhookSecret.count({ where: { customerId: id, retiredAt: null } })).toBe(1);
    expect((await getSecret(db, id))?.length).toBe(1);
    expect(await getSecret(db, 'cus_unknown')).toBeNull();
  });

  it('change their secret at the announced time, and have at most one next secret', async () => {
    const { db, make } = scenario;
    const { id } = await createCustomer(db, TEST_ACT, { name: 'Ada', sealSecret: () => Uint8Array.of(1) });
    const signing = async (): Promise<number | undefined> => (await getSecret(db, id))?.[0];
    const passHours = (hours: number): Promise<unknown> =>
      make.query(
        `UPDATE webhook_secrets SET created_at = created_at - make_interval(hours => $1),
           active_from = active_from - make_interval(hours => $1), retired_at = retired_at - make_interval(hours => $1)`,
        [hours],
      );
    await rotateSecret(db, TEST_ACT, id, Uint8Array.of(2), 48 * 3_600);
    const activeFrom = await rotateSecret(db, TEST_ACT, id, Uint8Array.of(3), 24 * 3_600);
    expect(activeFrom.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(await signing()).toBe(1);
    await passHours(23);
    expect(await signing()).toBe(1);
    await passHours(2);
    expect(await signing()).toBe(3);
    await passHours(48);
    expect(await signing()).toBe(3);

    await rotateSecret(db, TEST_ACT, id, Uint8Array.of(4), 24 * 3_600);
    await rotateSecret(db, TEST_ACT, id, Uint8Array.of(5));
    expect(await signing()).toBe(5);
    await passHours(48);
    expect(await signing()).toBe(5);

    await rotateSecret(db, TEST_ACT, id, Uint8Array.of(6), 24 * 3_600);
    await rotateSecret(db, TEST_ACT, id, Uint8Array.of(7), 48 * 3_600);
    await passHours(25);
    expect(await signing()).toBe(5);
    await passHours(24);
    expect(await signing()).toBe(7);
  });

  it('keep the limits that are not changed, and lose those that are reset', async () => {
    const { db } = scenario;
    const limits = { postPerMinute: 10, getPerMinute: 20 };
    const { id } = await createCustomer(db, TEST_ACT, {
      name: 'Ada',
      limits,
      sealSecret: () => Uint8Array.of(1),
    });
    expect(await setLimits(db, TEST_ACT, id, { postPerMinute: null, runningJobsMax: 7 })).toMatchObject({
      postPerMinute: null,
      getPerMinute: 20,
      runningJobsMax: 7,
    });
    expect(await setLimits(db, TEST_ACT, 'cus_unknown', { postPerMinute: 1 })).toBeNull();
    expect(await listAudit(db, { sinceSeconds: 60, customerId: id })).toMatchObject([
      { details: { post_per_minute: 10, get_per_minute: 20 } },
      { details: { post_per_minute: null, running_jobs_max: 7 } },
    ]);
    expect((await listCustomers(db)).map((customer) => customer.id)).toEqual([scenario.customerId, id]);
  });
});
