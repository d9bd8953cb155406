import { WEBHOOK_RETRY_DELAYS_SECONDS } from '@lipsync/domain';
import { addDeliveries } from '../../test/delivery-rows';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { claimDeliveries, type DeliveryClaim } from './claim-deliveries';

const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const options = { limit: 10, leaseSeconds: 20, perOrigin: 10, perCustomer: 10, delaysSeconds };
const NOTHING: DeliveryClaim = { claimed: [], ended: [] };

describe('a claim that meets a locked delivery', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
    await addDelivery();
  });
  afterEach(() => scenario.close());

  const addDelivery = (dueSecondsAgo = 60): Promise<void> =>
    addDeliveries(scenario.make, {
      customerId: scenario.customerId,
      origin: 'https://hooks.example.com',
      dueSecondsAgo,
    });
  const claim = (limit = options.limit): Promise<DeliveryClaim> =>
    claimDeliveries(scenario.db, { ...options, limit });
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
    expect(await claimDuringSettlement(attempts)).toEqual(NOTHING);
    expect(await claim()).toEqual(NOTHING);
    expect(await row()).toEqual({ status: 'delivered', attempts, lease: null, http: 200 });
  });

  it('cannot lease a settled one: the table refuses it', async () => {
    only((await claim()).claimed);
    await expect(
      scenario.make.query(`UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL`),
    ).rejects.toThrow('webhook_deliveries_lease_check');
  });
});
