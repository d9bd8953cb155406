import { createSecretBox, type Logger } from '@lipsync/runtime';
import { cutConnections, eventually } from '@lipsync/testkit';
import {
  type DispatcherFixture,
  header,
  isGenuine,
  openDispatcherFixture,
  silent,
} from './test/dispatcher-fixture';

let fixture: DispatcherFixture;

beforeEach(async () => {
  fixture = await openDispatcherFixture();
});
afterEach(() => fixture.close());

describe('faults on this side', () => {
  it('sends again under the same ids and bytes when the process dies between the POST and its record', async () => {
    const customer = await fixture.newCustomer();
    const { id } = await fixture.addDelivery(customer);
    // The first dispatcher posts and then dies: the response is lost with it.
    const egress = fixture.egressTo();
    const dying = fixture.prepare({
      egress: {
        post: (url, options) => egress.post(url, options).then(() => new Promise<never>(() => undefined)),
      },
      slots: 1,
      leaseSeconds: 1,
    });
    dying.start();
    const first = await fixture.receiver.next();
    expect(await fixture.read(id)).toMatchObject({ status: 'pending', attempts: 1 });
    void dying.close();

    fixture.dispatch();
    const second = await fixture.receiver.next();
    for (const name of ['svc-event-id', 'svc-delivery-id'])
      expect(header(second, name)).toBe(header(first, name));
    expect(second.body).toEqual(first.body);
    expect(isGenuine(second, customer)).toBe(true);
    await eventually(async () =>
      expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 2 }),
    );
    expect(fixture.receiver.requests).toHaveLength(2);
  });

  it('settles a delivery once when the database goes away during the POST', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer());
    let cut: Promise<void> | undefined;
    fixture.receiver.reply(() => {
      cut = cutConnections(fixture.database);
      return { status: 200 };
    });
    fixture.dispatch();
    await eventually(async () =>
      expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 1 }),
    );
    await cut;
    expect(fixture.receiver.requests).toHaveLength(1);
  });

  it('settles a delivery in another try when the database goes away during the first one', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer());
    const { pool } = fixture.db;
    const holder = await pool.connect();
    const egress = fixture.egressTo();
    fixture.dispatch({
      egress: {
        post: async (url, options) => {
          // The settlement waits for this lock until the connections are cut.
          await holder.query('BEGIN');
          await holder.query('SELECT FROM webhook_deliveries FOR UPDATE');
          return egress.post(url, options);
        },
      },
    });
    await eventually(async () => {
      const waiting = await pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting.rowCount).toBe(1);
    });
    await cutConnections(fixture.database);
    holder.release(true);
    await eventually(async () =>
      expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 1 }),
    );
    expect(fixture.receiver.requests).toHaveLength(1);
  });

  it('signs nothing while the clock is off, and charges no attempt for it', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer());
    let offMs = 120_000;
    const errors: string[] = [];
    const logger: Logger = { ...silent, error: (message) => void errors.push(message) };
    fixture.dispatch({ clock: { now: () => Date.now() + offMs }, logger });
    await eventually(() => expect(errors).toContain('the clock is off, nothing is signed'));
    expect(await fixture.read(id)).toMatchObject({ attempts: 0, status: 'pending' });
    expect(fixture.receiver.requests).toHaveLength(0);
    offMs = 0;
    await eventually(async () =>
      expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 1 }),
    );
  });

  it('charges no attempt when the secret cannot be decrypted', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer());
    fixture.dispatch({ secretBox: createSecretBox('cd'.repeat(32)) });
    await eventually(async () => {
      const delivery = await fixture.read(id);
      expect(delivery).toMatchObject({ attempts: 0, status: 'pending', lastError: null, claimToken: null });
      expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    });
    expect(fixture.receiver.requests).toHaveLength(0);
  });
});
