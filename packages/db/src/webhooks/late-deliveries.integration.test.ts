import { WEBHOOK_RETRY_DELAYS_SECONDS, WEBHOOK_WINDOW_SECONDS } from '@lipsync/domain';
import { addDeliveries } from '../../test/delivery-rows';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { claimDeliveries, type DeliveryClaim } from './claim-deliveries';
import { settleUndelivered } from './settle-deliveries';

const delaysSeconds = WEBHOOK_RETRY_DELAYS_SECONDS;
const options = { limit: 10, leaseSeconds: 20, perOrigin: 10, perCustomer: 10, delaysSeconds };

interface Age {
  attempts: number;
  ageSeconds: number;
  lastError?: string;
  isExpired?: boolean;
}

describe('a delivery that comes late', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
    await addDeliveries(scenario.make, {
      customerId: scenario.customerId,
      origin: 'https://hooks.example.com',
    });
  });
  afterEach(() => scenario.close());

  const claim = (): Promise<DeliveryClaim> => claimDeliveries(scenario.db, options);
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

  it('is not deferred beyond its window for ever by faults of the service', async () => {
    await make({ attempts: 2, ageSeconds: WEBHOOK_WINDOW_SECONDS - 60, lastError: 'http_error' });
    const { id, claimToken } = only((await claim()).claimed);
    const outcome = { kind: 'deferred', delaySeconds: 60 } as const;
    const settlement = { id, claimToken, outcome, jitter: 0.5, delaysSeconds };
    expect(await settleUndelivered(scenario.db, settlement)).toBe('pending');
    await make({ attempts: 2, ageSeconds: WEBHOOK_WINDOW_SECONDS + 120, lastError: 'http_error' });
    expect(await claim()).toMatchObject({ claimed: [], ended: [{ attempt: 2, lastError: 'http_error' }] });
    expect(await row()).toEqual({ ...failed, attempts: 2, error: 'http_error' });
  });

  it('is reported by only one claim', async () => {
    await make({ attempts: 0, ageSeconds: 7 * WEBHOOK_WINDOW_SECONDS, isExpired: true });
    const claims = [await claim(), await claim()];
    expect(claims.map(({ ended }) => ended.length)).toEqual([1, 0]);
  });
});
