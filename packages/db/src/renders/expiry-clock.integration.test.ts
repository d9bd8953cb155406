import { codeOf, DAY_SECONDS, openScenario, type Scenario } from '../../test/scenario';
import { getAsset } from '../inputs/assets';
import { getPreparation } from '../inputs/preparations';
import { getDeliveryByEvent } from '../webhooks/deliveries';
import { cancelRender } from './cancel-render';
import { getRender } from './get-render';

/** Timers stay real: only the process's time of day is faked. */
const TIMERS = [
  ...([
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['nextTick', 'queueMicrotask', 'hrtime', 'performance'] as const),
];

describe('expiry', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());
  afterEach(() => jest.useRealTimers());

  const setClock = (days: number) =>
    jest.useFakeTimers({ now: Date.now() + days * DAY_SECONDS * 1000, doNotFake: TIMERS });

  /** The result of reading each kind of resource. All of them live for a week. */
  async function readings() {
    const { db, customerId } = scenario;
    const asset = await scenario.asset();
    const { preparation } = await scenario.preparation();
    const { render } = await scenario.render();
    const { webhookEventId } = await cancelRender(db, customerId, render.id);
    return {
      ids: [asset.id, preparation.id, render.id, webhookEventId ?? ''],
      read: () =>
        Promise.all([
          codeOf(getAsset(db, customerId, asset.id)),
          codeOf(getPreparation(db, customerId, preparation.id)),
          codeOf(getRender(db, customerId, render.id)),
          codeOf(getDeliveryByEvent(db, customerId, webhookEventId ?? '')),
        ]),
    };
  }

  it("does not come early if the clock of this process is ahead of the database's", async () => {
    const { read } = await readings();
    setClock(+30);
    expect(await read()).toEqual([null, null, null, null]);
  });

  it('does not come late if the clock of this process is behind', async () => {
    const { ids, read } = await readings();
    for (const table of ['assets', 'preparations', 'renders', 'webhook_events'])
      await scenario.make.query(`UPDATE ${table} SET expires_at = clock_timestamp() WHERE id = ANY($1)`, [
        ids,
      ]);
    setClock(-30);
    const codes = ['asset_expired', 'preparation_expired', 'render_expired', 'webhook_event_expired'];
    expect(await read()).toEqual(codes);
  });
});
