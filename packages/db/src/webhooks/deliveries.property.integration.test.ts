import { TEST_ACT } from '@lipsync/testkit';
import * as fc from 'fast-check';
import { addDeliveries } from '../../test/delivery-rows';
import { openScenario, type Scenario } from '../../test/scenario';
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries';
import { redeliver } from './deliveries';
import { type DeliveryState, settleDelivery } from './settle-delivery';

/** What can happen. `held` picks one of all claims ever granted, `row` one of the deliveries. */
type Step =
  | { do: 'claim'; limit: number }
  | { do: 'succeed' | 'fail' | 'defer'; held: number }
  | { do: 'expire' | 'due' | 'redeliver'; row: number };

const DELIVERIES = 3;
const delaysSeconds = [0, 0];
const CAPS = { leaseSeconds: 60, perOrigin: 2, perCustomer: 2, delaysSeconds };
const held = fc.nat({ max: 11 });
const row = fc.nat({ max: DELIVERIES - 1 });
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('succeed' as const, 'fail' as const, 'defer' as const),
      held,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('expire' as const, 'expire' as const, 'due' as const, 'redeliver' as const),
      row,
    }),
  },
);
/** The steps of one batch run concurrently. */
const historyArbitrary = fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 5 }), {
  minLength: 4,
  maxLength: 16,
});

interface Row {
  id: string;
  status: DeliveryState;
  attempts: number;
  leased: boolean;
}

/**
 * The observations of a history: every claim, the effective outcomes, the deliveries that claims ended, and those that
 * were asked for again, which may each have an attempt beyond the schedule.
 */
interface World {
  customerId: string;
  ids: string[];
  claims: ClaimedDelivery[];
  counted: Map<string, DeliveryState>;
  ended: string[];
  askedAgain: string[];
}

describe('deliveries under random interleavings', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  it('are attempted within their caps and number, settled once for each claim, and never again once they ended', async () => {
    const property = fc.asyncProperty(historyArbitrary, checkHistory);
    await fc.assert(property, { seed: 20250902, numRuns: 40, interruptAfterTimeLimit: 45_000 });
  });

  async function checkHistory(history: Step[][]): Promise<void> {
    await scenario.make.query('DELETE FROM webhook_deliveries');
    const customerId = await scenario.make.customer();
    const origin = 'https://hooks.example.com';
    await addDeliveries(scenario.make, { customerId, origin, count: DELIVERIES });
    const world: World = { customerId, ids: [], claims: [], counted: new Map(), ended: [], askedAgain: [] };
    let before = await look();
    world.ids = before.map(({ id }) => id);
    for (const batch of history) {
      await Promise.all(batch.map((step) => perform(step, world)));
      const after = await look();
      expectConsistent(before, after, world);
      before = after;
    }
  }

  function look(): Promise<Row[]> {
    return scenario.make.query<Row>(
      'SELECT id, status, attempts, lease_until > now() AS leased FROM webhook_deliveries ORDER BY id',
    );
  }

  function expectConsistent(before: readonly Row[], after: readonly Row[], world: World): void {
    const now = new Map(after.map((each) => [each.id, each]));
    for (const earlier of before)
      if (earlier.status !== 'pending') expect(now.get(earlier.id)).toEqual(earlier);
    expect(after.filter(({ leased }) => leased).length).toBeLessThanOrEqual(CAPS.perOrigin);
    for (const { id, status, attempts } of after) {
      const askedAgain = world.askedAgain.filter((asked) => asked === id).length;
      expect(attempts).toBeLessThanOrEqual(delaysSeconds.length + 1 + askedAgain);
      const outcomes = world.claims
        .filter((claim) => claim.id === id)
        .flatMap((claim) => world.counted.get(keyOf(claim)) ?? []);
      // Nothing that was reported as ended was attempted, or ended, again.
      expect(outcomes.filter((state) => state !== 'pending').length).toBeLessThanOrEqual(1);
      expect(outcomes.includes('delivered')).toBe(status === 'delivered');
      // Its failure was reported once: to the settler of its last attempt, or to the claim that ended it.
      const failures = outcomes.filter((state) => state === 'failed').length;
      const endings = world.ended.filter((ended) => ended === id).length;
      expect(failures + endings).toBe(status === 'failed' ? 1 : 0);
    }
    const keys = world.claims.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
  }

  async function perform(step: Step, world: World): Promise<void> {
    const { db, make } = scenario;
    switch (step.do) {
      case 'claim': {
        const { claimed, ended } = await claimDeliveries(db, { ...CAPS, limit: step.limit });
        world.claims.push(...claimed);
        world.ended.push(...ended.map(({ id }) => id));
        return;
      }
      case 'expire':
        await make.query(
          `UPDATE webhook_deliveries SET lease_until = now() - interval '1 second' WHERE id = $1 AND lease_until IS NOT NULL`,
          [world.ids[step.row]],
        );
        return;
      case 'due':
        await make.query(
          `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 second' WHERE id = $1 AND status = 'pending'`,
          [world.ids[step.row]],
        );
        return;
      case 'redeliver': {
        const id = world.ids[step.row] ?? '';
        world.askedAgain.push(id);
        const eventId = id.replace('dlv_', 'evt_');
        await redeliver(db, TEST_ACT, eventId);
        return;
      }
      default:
        await settle(step, world);
    }
  }

  async function settle(
    { do: how, held: index }: { do: 'succeed' | 'fail' | 'defer'; held: number },
    { claims, counted }: World,
  ): Promise<void> {
    const { db } = scenario;
    const claim = claims[index % Math.max(1, claims.length)];
    if (!claim) return;
    const outcomes = {
      succeed: { kind: 'delivered', httpStatus: 200 },
      fail: { kind: 'failed', error: 'http_error', httpStatus: 500 },
      defer: { kind: 'deferred', delaySeconds: 0 },
    } as const;
    const state = await settleDelivery(db, claim, outcomes[how], { jitter: 0.5, delaysSeconds });
    if (!state) return;
    // A claim counts only once.
    expect(counted.has(keyOf(claim))).toBe(false);
    counted.set(keyOf(claim), state);
  }
});

/** What entitles a dispatcher to settle a delivery. */
function keyOf({ id, claimToken }: ClaimedDelivery): string {
  return `${id} ${claimToken}`;
}
