import { TEST_ACT } from '@lipsync/testkit';
import { openScenario, type Scenario } from '../../test/scenario';
import { listAudit } from '../audit/audit-log';
import { findApiKey, issueKey, listKeys, revokeKey, touchApiKey } from './api-keys';
import { setCustomerState } from './suspension';

const HASH = 'a'.repeat(64);

describe('keys', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  const issue = async (about: { name?: string; endsInSeconds?: number } = {}) => {
    const { db, customerId } = scenario;
    const key = await issueKey(db, TEST_ACT, { customerId, hash: HASH, lastFour: 'aaaa', ...about });
    if (key === null) throw new Error('the customer is gone');
    return key;
  };

  it('lead to their customer until they are revoked', async () => {
    const { db, customerId } = scenario;
    const { id } = await issue();
    expect(await findApiKey(db, 'b'.repeat(64))).toBeNull();
    expect(await findApiKey(db, HASH)).toMatchObject({ keyId: id, id: customerId });
    expect(await revokeKey(db, TEST_ACT, id)).toBe(true);
    expect(await findApiKey(db, HASH)).toBeNull();
    expect(await revokeKey(db, TEST_ACT, id)).toBe(false);
    const ofNobody = { customerId: 'cus_unknown', hash: 'c'.repeat(64), lastFour: 'cccc' };
    expect(await issueKey(db, TEST_ACT, ofNobody)).toBeNull();
  });

  it("lead nowhere from their end on, on the database's clock", async () => {
    const { db, make } = scenario;
    const { id, createdAt, expiresAt } = await issue({ endsInSeconds: 60 });
    expect((expiresAt?.getTime() ?? 0) - createdAt.getTime()).toBe(60_000);
    expect(await findApiKey(db, HASH)).toMatchObject({ keyId: id });
    await make.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [id]);
    expect(await findApiKey(db, HASH)).toBeNull();
  });

  it('lead nowhere while their customer is suspended', async () => {
    const { db, customerId } = scenario;
    const { id } = await issue();
    await setCustomerState(db, TEST_ACT, customerId, 'suspended');
    expect(await findApiKey(db, HASH)).toBeNull();
    await setCustomerState(db, TEST_ACT, customerId, 'active');
    expect(await findApiKey(db, HASH)).toMatchObject({ keyId: id });
  });

  it('are listed without their hashes, with their name and who issued them', async () => {
    const { db, customerId } = scenario;
    const { id } = await issue({ name: 'the newsroom' });
    const [listed] = await listKeys(db, customerId);
    expect(listed).toMatchObject({
      id,
      name: 'the newsroom',
      issuedBy: TEST_ACT.actor,
      lastFour: 'aaaa',
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(listed).not.toHaveProperty('hash');
  });

  it('have one write of their use in an hour, and say when the next is due', async () => {
    const { db, make } = scenario;
    const { id } = await issue();
    const usedAt = async (): Promise<Date | null | undefined> =>
      (await listKeys(db, scenario.customerId))[0]?.lastUsedAt;
    expect(await findApiKey(db, HASH)).toMatchObject({ useIsStale: true });
    await Promise.all([1, 2, 3].map(() => touchApiKey(db, id)));
    const first = await usedAt();
    await touchApiKey(db, id);
    expect(await usedAt()).toEqual(first);
    expect(await findApiKey(db, HASH)).toMatchObject({ useIsStale: false });
    await make.query(`UPDATE api_keys SET last_used_at = now() - interval '1 hour' WHERE id = $1`, [id]);
    expect(await findApiKey(db, HASH)).toMatchObject({ useIsStale: true });
    await touchApiKey(db, id);
    expect((await usedAt())?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? Infinity);
  });

  it('are on record without what they are or are called', async () => {
    const { db, customerId } = scenario;
    const { id } = await issue({ name: 'the newsroom' });
    await revokeKey(db, TEST_ACT, id);
    const rows = (await listAudit(db, { sinceSeconds: 60, customerId })).filter(
      ({ subjectId }) => subjectId === id,
    );
    expect(rows).toMatchObject([{ details: { expires_at: null } }, { details: {} }]);
    expect(JSON.stringify(rows)).not.toMatch(/newsroom|aaaa/);
  });
});
