import { eventually } from '@lipsync/testkit';
import { addDeliveries } from '../test/delivery-rows';
import { only, openScenario, type Scenario } from '../test/scenario';
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries';

const options = { limit: 10, leaseSeconds: 20, perOrigin: 10, perCustomer: 10 };

describe('a claim that meets a late settlement', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
    await addDeliveries(scenario.make, {
      customerId: scenario.customerId,
      origin: 'https://hooks.example.com',
    });
  });
  afterEach(() => scenario.close());

  const claim = (): Promise<ClaimedDelivery[]> => claimDeliveries(scenario.db, options);
  const row = async (): Promise<Record<string, unknown>> =>
    only(
      await scenario.make.query<Record<string, unknown>>(
        'SELECT status, attempts, lease_until AS lease, last_http_status AS http FROM webhook_deliveries',
      ),
    );

  /** Claims while somebody who claimed it as attempt `attempts` is about to commit that it was delivered. */
  async function claimDuringSettlement(attempts: number): Promise<ClaimedDelivery[]> {
    only(await claim());
    await scenario.make.query(
      `UPDATE webhook_deliveries SET attempts = $1, lease_until = now() - interval '1 second'`,
      [attempts],
    );
    const late = await scenario.db.pool.connect();
    try {
      await late.query('BEGIN');
      await late.query(
        `UPDATE webhook_deliveries SET status = 'delivered', last_http_status = 200, next_attempt_at = NULL,
           lease_until = NULL, claim_token = NULL`,
      );
      const claiming = claim();
      await eventually(async () =>
        expect(
          await scenario.make.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`,
          ),
        ).toHaveLength(1),
      );
      await late.query('COMMIT');
      return await claiming;
    } finally {
      late.release();
    }
  }

  it('leaves what was delivered meanwhile as it is', async () => {
    expect(await claimDuringSettlement(10)).toEqual([]);
    expect(await row()).toEqual({ status: 'delivered', attempts: 10, lease: null, http: 200 });
  });

  it('does not fail a last attempt that was delivered meanwhile', async () => {
    expect(await claimDuringSettlement(11)).toEqual([]);
    expect(await row()).toEqual({ status: 'delivered', attempts: 11, lease: null, http: 200 });
  });

  it('could not hold a lease of a settled one: the table refuses it', async () => {
    only(await claim());
    await expect(
      scenario.make.query(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL`),
    ).rejects.toThrow('webhook_deliveries_lease_check');
  });
});
