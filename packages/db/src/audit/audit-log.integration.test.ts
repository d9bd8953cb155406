import { openScenario, type Scenario } from '../../test/scenario';
import { transaction } from '../postgres/db';
import { listAudit, recordAct } from './audit-log';

const ACT = { actor: 'ada', command: 'customers limits' };

describe('the audit log', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  it("says who did what to whom, on the database's clock, the oldest first", async () => {
    const { db, customerId } = scenario;
    await transaction(db, (tx) => recordAct(db, tx, ACT, { customerId, details: { get_per_minute: 7 } }));
    await transaction(db, (tx) =>
      recordAct(db, tx, { actor: 'bob', command: 'keys revoke' }, { customerId, subjectId: 'key_1' }),
    );
    const rows = await listAudit(db, { sinceSeconds: 60, customerId });
    expect(rows).toMatchObject([
      { ...ACT, customerId, subjectId: null, details: { get_per_minute: 7 } },
      { actor: 'bob', command: 'keys revoke', customerId, subjectId: 'key_1', details: {} },
    ]);
    const [clock] = await scenario.make.query<{ agree: boolean }>(
      `SELECT bool_and(at BETWEEN now() - interval '1 min' AND now() AND login = session_user) AS agree FROM audit_log`,
    );
    expect(clock).toEqual({ agree: true });
    expect(await listAudit(db, { sinceSeconds: 60, customerId: 'cus_other' })).toEqual([]);
    expect(await listAudit(db, { sinceSeconds: 0 })).toEqual([]);
  });

  it('has no row of a change that was rolled back', async () => {
    const { db } = scenario;
    const customerId = 'cus_rolled_back';
    const failing = transaction(db, async (tx) => {
      await recordAct(db, tx, ACT, { customerId });
      throw new Error('after all not');
    });
    await expect(failing).rejects.toThrow('after all not');
    expect(await listAudit(db, { sinceSeconds: 60, customerId })).toEqual([]);
  });

  it.each(["UPDATE audit_log SET actor = 'nobody'", 'DELETE FROM audit_log', 'TRUNCATE audit_log'])(
    'refuses even the owner of the tables: %s',
    async (statement) => {
      const { db, make } = scenario;
      await transaction(db, (tx) => recordAct(db, tx, ACT));
      await expect(make.query(statement)).rejects.toThrow('only ever added to');
    },
  );
});
