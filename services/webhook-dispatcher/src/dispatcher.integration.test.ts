import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { rotateSecret } from '@lipsync/db';
import { createSecretBox, EgressError, type Logger } from '@lipsync/runtime';
import { cutConnections, eventually, TEST_ACT } from '@lipsync/testkit';
import {
  type DispatcherFixture,
  header,
  isGenuine,
  openDispatcherFixture,
  ORIGIN,
  OTHER_ORIGIN,
  secretBox,
  silent,
} from './test/dispatcher-fixture';

let fixture: DispatcherFixture;

beforeEach(async () => {
  fixture = await openDispatcherFixture();
});
afterEach(() => fixture.close());

it('posts the stored bytes once, signed so that the receiver can verify them, and settles as delivered', async () => {
  const customer = await fixture.newCustomer();
  const { id, eventId, body } = await fixture.addDelivery(customer);
  fixture.receiver.reply({ status: 204 });
  fixture.dispatch();
  await eventually(async () => expect(await fixture.read(id)).toMatchObject({ status: 'delivered' }));
  expect(await fixture.read(id)).toMatchObject({
    attempts: 1,
    lastHttpStatus: 204,
    lastError: null,
    nextAttemptAt: null,
  });
  expect(fixture.receiver.requests).toHaveLength(1);
  const request = await fixture.receiver.next();
  expect(request).toMatchObject({
    method: 'POST',
    path: '/hook',
    headers: { 'content-type': 'application/json', 'svc-event-id': eventId, 'svc-delivery-id': id },
  });
  expect(request.body.toString('utf8')).toBe(body);
  expect(isGenuine(request, customer)).toBe(true);
});

it('gives up after exactly eleven responses of 500, with the same ids and bytes and a new signature each time', async () => {
  const customer = await fixture.newCustomer();
  const { id, eventId, body } = await fixture.addDelivery(customer);
  fixture.receiver.reply({ status: 500, body: 'internal details' });
  // A clock that advances by a second with every attempt.
  const clock = { now: () => Date.now() + 1_000 * fixture.receiver.requests.length };
  fixture.dispatch({ delaysSeconds: new Array<number>(10).fill(0), clock });
  await eventually(async () => expect(await fixture.read(id)).toMatchObject({ status: 'failed' }));
  expect(await fixture.read(id)).toMatchObject({
    attempts: 11,
    lastHttpStatus: 500,
    lastError: 'http_error',
    nextAttemptAt: null,
  });
  expect(fixture.receiver.requests).toHaveLength(11);
  for (const request of fixture.receiver.requests) {
    expect(header(request, 'svc-event-id')).toBe(eventId);
    expect(header(request, 'svc-delivery-id')).toBe(id);
    expect(request.body.toString('utf8')).toBe(body);
    expect(isGenuine(request, customer)).toBe(true);
  }
  const times = fixture.receiver.requests.map((request) =>
    Number(/^t=(\d+)/.exec(header(request, 'svc-signature'))?.[1]),
  );
  expect(new Set(times).size).toBe(11);
});

it("signs with the customer's newest secret", async () => {
  const customer = await fixture.newCustomer();
  const newSecret = randomBytes(32).toString('hex');
  await rotateSecret(fixture.db, TEST_ACT, customer.id, secretBox.seal(newSecret, customer.id));
  await fixture.addDelivery(customer);
  fixture.dispatch();
  expect(isGenuine(await fixture.receiver.next(), { id: customer.id, secret: newSecret })).toBe(true);
});

it('claims nothing new when it closes, and settles what is in flight', async () => {
  const customer = await fixture.newCustomer();
  const { id } = await fixture.addDelivery(customer);
  const response = new PassThrough();
  fixture.receiver.reply({ status: 200, body: () => response });
  // One slot, occupied by the response under way: no claim is running when closing begins.
  const dispatcher = fixture.dispatch({ slots: 1 });
  await fixture.receiver.next();
  const closed = dispatcher.close();
  const late = await fixture.addDelivery(customer);
  response.end();
  await closed;
  expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(await fixture.read(late.id)).toMatchObject({ status: 'pending', attempts: 0 });
});

describe('a failed attempt', () => {
  it.each([
    ['redirect', { status: 302, headers: { location: `${ORIGIN}/elsewhere` } }, 302, {}],
    ['http_error', { status: 410 }, 410, {}],
    ['connection_failed', 'reset', null, {}],
    // The limit is short in this case only: an attempt that timed out because of a busy machine is retried ten seconds
    // later.
    ['timeout', 'hang', null, { timeoutMs: 3_000 }],
  ] as const)(
    'of class %s is recorded and tried again later',
    async (lastError, reply, lastHttpStatus, changes) => {
      const { id } = await fixture.addDelivery(await fixture.newCustomer());
      fixture.receiver.reply(reply);
      fixture.dispatch(changes);
      await eventually(async () => expect(await fixture.read(id)).toMatchObject({ lastError }));
      const delivery = await fixture.read(id);
      expect(delivery).toMatchObject({ status: 'pending', attempts: 1, lastHttpStatus });
      expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThan(delivery.updatedAt.getTime() + 8_000);
      expect(fixture.receiver.requests.map(({ path }) => path)).toEqual(['/hook']);
    },
  );

  it.each([
    ['tls_error', `https://unknown-name.example.test/`],
    ['address_not_allowed', 'https://127.0.0.1/'],
  ])('that reached no server is recorded as %s', async (lastError, url) => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer(), url);
    fixture.dispatch({ egress: fixture.egressTo(['unknown-name.example.test']) });
    await eventually(async () => expect(await fixture.read(id)).toMatchObject({ lastError, attempts: 1 }));
    expect(fixture.receiver.requests).toHaveLength(0);
  });

  it('whose host name does not resolve is recorded as dns_error', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer(), 'https://nowhere.example.test/');
    // The egress is replaced because how this machine's resolver answers, and how soon, is not under the test's
    // control.
    fixture.dispatch({ egress: { post: () => Promise.reject(new EgressError('dns_error')) } });
    await eventually(async () =>
      expect(await fixture.read(id)).toMatchObject({
        lastError: 'dns_error',
        attempts: 1,
        status: 'pending',
      }),
    );
  });

  it('waits longer when the receiver asks for it', async () => {
    const { id } = await fixture.addDelivery(await fixture.newCustomer());
    fixture.receiver.reply({ status: 503, headers: { 'retry-after': '3600' } });
    fixture.dispatch();
    await eventually(async () => expect(await fixture.read(id)).toMatchObject({ lastHttpStatus: 503 }));
    const delivery = await fixture.read(id);
    expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThanOrEqual(
      delivery.updatedAt.getTime() + 3_600_000,
    );
  });
});

describe('the dispatcher', () => {
  /** What hangs does so for longer than any test. */
  const PATIENT = { timeoutMs: 3_600_000, leaseSeconds: 3_600 };
  const hangAt = (path: string) =>
    fixture.receiver.reply((request) => (request.path === path ? 'hang' : { status: 200 }));
  const arrivedAt = (path: string) =>
    fixture.receiver.requests.filter((request) => request.path === path).length;

  it('keeps a hanging origin to its cap while another origin is served', async () => {
    const customer = await fixture.newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 20; index++) await fixture.addDelivery(customer, `${ORIGIN}/hang`);
    fixture.dispatch(PATIENT);
    await fixture.receiver.until(() => arrivedAt('/hang') === 8);
    const { id } = await fixture.addDelivery(customer, `${OTHER_ORIGIN}/fine`);
    await eventually(async () => expect(await fixture.read(id)).toMatchObject({ status: 'delivered' }));
    expect(arrivedAt('/hang')).toBe(8);
  });

  it('keeps one customer to its cap across all dispatchers while another is served', async () => {
    const greedy = await fixture.newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 6; index++) await fixture.addDelivery(greedy, `${ORIGIN}/hang`);
    for (let count = 0; count < 2; count++) fixture.dispatch({ ...PATIENT, slots: 4, perCustomer: 2 });
    await fixture.receiver.until(() => arrivedAt('/hang') === 2);
    const { id } = await fixture.addDelivery(await fixture.newCustomer(), `${ORIGIN}/fine`);
    await eventually(async () => expect(await fixture.read(id)).toMatchObject({ status: 'delivered' }));
    expect(arrivedAt('/hang')).toBe(2);
  });

  it('delivers each of many once with two dispatchers at work', async () => {
    const customer = await fixture.newCustomer();
    const ids = [];
    for (let index = 0; index < 40; index++) ids.push((await fixture.addDelivery(customer)).id);
    fixture.dispatch();
    fixture.dispatch();
    await eventually(async () =>
      expect(await fixture.db.prisma.webhookDelivery.count({ where: { status: 'delivered' } })).toBe(40),
    );
    expect(fixture.receiver.requests.map((request) => header(request, 'svc-delivery-id')).sort()).toEqual(
      ids.sort(),
    );
  });
});

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
