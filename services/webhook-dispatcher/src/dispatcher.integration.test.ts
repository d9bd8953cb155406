import { randomBytes } from 'node:crypto';
import { createCustomer, createDb, type Db, rotateSecret } from '@lipsync/db';
import { verifyWebhookSignature } from '@lipsync/domain';
import {
  createEgress,
  createLogger,
  createSecretBox,
  EgressError,
  type Logger,
  systemClock,
} from '@lipsync/runtime';
import { createMetrics, NO_TRACING, openTelemetry, type Telemetry } from '@lipsync/telemetry';
import {
  createTestDatabase,
  cutConnections,
  eventually,
  type HttpsReceiver,
  parseExposition,
  type ReceivedRequest,
  startHttpsReceiver,
  startOtlpCollector,
  type TestDatabase,
} from '@lipsync/testkit';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from './dispatcher';

const HOST = 'hooks.example.test';
const ORIGIN = `https://${HOST}`;
const OTHER_HOST = 'other.example.test';
const secretBox = createSecretBox('ab'.repeat(32));
const silent = createLogger({ service: 'test', level: 'silent' });

let database: TestDatabase;
let db: Db;
let receiver: HttpsReceiver;
let running: Dispatcher[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, poolMax: 6, publicBaseUrl: 'https://api.example.test' });
  receiver = await startHttpsReceiver({ hostnames: [HOST, OTHER_HOST] });
});
afterEach(async () => {
  // First the receiver: whoever still waits for an answer of it gets a reset.
  await receiver.close();
  await Promise.all(running.map((dispatcher) => dispatcher.close()));
  running = [];
  await db.close();
  await database.drop();
});

interface Customer {
  id: string;
  secret: string;
}

async function newCustomer(): Promise<Customer> {
  const secret = randomBytes(32).toString('hex');
  const row = await createCustomer(db, { name: 'test', sealSecret: (id) => secretBox.seal(secret, id) });
  return { id: row.id, secret };
}

/** An event with a delivery that is due now; returns the delivery's id. */
async function addDelivery(
  customer: Customer,
  url = `${ORIGIN}/hook`,
): Promise<{ id: string; eventId: string; body: string }> {
  const now = new Date();
  const eventId = db.newId('evt');
  const body = JSON.stringify({ id: eventId, type: 'render.completed', note: 'ü — stored bytes' });
  const id = db.newId('dlv');
  await db.prisma.webhookEvent.create({
    data: {
      id: eventId,
      customerId: customer.id,
      renderId: db.newId('ren'),
      type: 'render.completed',
      body,
      createdAt: now,
      expiresAt: new Date(now.getTime() + 3_600_000),
    },
  });
  await db.prisma.webhookDelivery.create({
    data: {
      id,
      eventId,
      customerId: customer.id,
      url,
      origin: new URL(url).origin,
      status: 'pending',
      nextAttemptAt: now,
      createdAt: now,
      updatedAt: now,
    },
  });
  return { id, eventId, body };
}

const untraced = (): Telemetry => ({ metrics: createMetrics(), tracing: NO_TRACING });

const read = (id: string) => db.prisma.webhookDelivery.findUniqueOrThrow({ where: { id } });

function dispatch(changes: Partial<DispatcherOptions> = {}): Dispatcher {
  const dispatcher = createDispatcher({
    db,
    egress: createEgress({
      nodeEnv: 'test',
      allowedPorts: 'any',
      routes: new Map([HOST, OTHER_HOST].map((host) => [`${host}:443`, receiver.address])),
      ca: receiver.ca,
    }),
    secretBox,
    clock: systemClock,
    logger: silent,
    telemetry: untraced(),
    slots: 64,
    perCustomer: 16,
    pollMs: 20,
    ...changes,
  });
  running.push(dispatcher);
  dispatcher.start();
  return dispatcher;
}

const header = (request: ReceivedRequest | undefined, name: string) => String(request?.headers[name]);

function expectGenuine(request: ReceivedRequest, customer: Customer): void {
  const genuine = verifyWebhookSignature({
    secretHex: customer.secret,
    header: header(request, 'svc-signature'),
    deliveryId: header(request, 'svc-delivery-id'),
    body: request.body,
    nowSeconds: Date.now() / 1000,
  });
  expect(genuine).toBe(true);
}

it('posts the stored bytes once, signed so that the receiver can verify them, and settles as delivered', async () => {
  const customer = await newCustomer();
  const { id, eventId, body } = await addDelivery(customer);
  receiver.reply({ status: 204 });
  dispatch();
  await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered' }));
  expect(await read(id)).toMatchObject({
    attempts: 1,
    lastHttpStatus: 204,
    lastError: null,
    nextAttemptAt: null,
  });
  expect(receiver.requests).toHaveLength(1);
  const request = await receiver.next();
  expect(request).toMatchObject({
    method: 'POST',
    path: '/hook',
    headers: { 'content-type': 'application/json', 'svc-event-id': eventId, 'svc-delivery-id': id },
  });
  expect(request.body.toString('utf8')).toBe(body);
  expectGenuine(request, customer);
});

it('gives up after exactly eleven answers of 500, with the same ids and bytes and a fresh signature each time', async () => {
  const customer = await newCustomer();
  const { id, eventId, body } = await addDelivery(customer);
  receiver.reply({ status: 500, body: 'internal details' });
  // A clock that is a second further after every attempt.
  const clock = { now: () => Date.now() + 1_000 * receiver.requests.length };
  dispatch({ delaysSeconds: new Array<number>(10).fill(0), clock });
  await eventually(async () => expect(await read(id)).toMatchObject({ status: 'failed' }));
  expect(await read(id)).toMatchObject({
    attempts: 11,
    lastHttpStatus: 500,
    lastError: 'http_error',
    nextAttemptAt: null,
  });
  expect(receiver.requests).toHaveLength(11);
  for (const request of receiver.requests) {
    expect(header(request, 'svc-event-id')).toBe(eventId);
    expect(header(request, 'svc-delivery-id')).toBe(id);
    expect(request.body.toString('utf8')).toBe(body);
    expectGenuine(request, customer);
  }
  const times = receiver.requests.map((request) =>
    Number(/^t=(\d+)/.exec(header(request, 'svc-signature'))?.[1]),
  );
  expect(new Set(times).size).toBe(11);
});

describe('a failed attempt', () => {
  it.each([
    ['redirect', { status: 302, headers: { location: `${ORIGIN}/elsewhere` } }, 302, {}],
    ['http_error', { status: 410 }, 410, {}],
    ['connection_failed', 'reset', null, {}],
    // The time is short here alone: the next attempt of one that a busy machine let time out is ten seconds away.
    ['timeout', 'hang', null, { timeoutMs: 3_000 }],
  ] as const)(
    'of class %s is recorded and tried again later',
    async (lastError, reply, lastHttpStatus, changes) => {
      const { id } = await addDelivery(await newCustomer());
      receiver.reply(reply);
      dispatch(changes);
      await eventually(async () => expect(await read(id)).toMatchObject({ lastError }));
      const delivery = await read(id);
      expect(delivery).toMatchObject({ status: 'pending', attempts: 1, lastHttpStatus });
      expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThan(delivery.updatedAt.getTime() + 8_000);
      expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook']);
    },
  );

  it.each([
    ['tls_error', `https://unknown-name.example.test/`],
    ['address_not_allowed', 'https://127.0.0.1/'],
  ])('that reached nobody is recorded as %s', async (lastError, url) => {
    const { id } = await addDelivery(await newCustomer(), url);
    const egress = createEgress({
      nodeEnv: 'test',
      allowedPorts: 'any',
      routes: new Map([['unknown-name.example.test:443', receiver.address]]),
      ca: receiver.ca,
    });
    dispatch({ egress });
    await eventually(async () => expect(await read(id)).toMatchObject({ lastError, attempts: 1 }));
    expect(receiver.requests).toHaveLength(0);
  });

  it('whose name nobody knows is recorded as dns_error', async () => {
    const { id } = await addDelivery(await newCustomer(), 'https://nowhere.example.test/');
    // What the resolver of this machine says to that, and how soon, is another matter.
    dispatch({ egress: { post: () => Promise.reject(new EgressError('dns_error')) } });
    await eventually(async () =>
      expect(await read(id)).toMatchObject({ lastError: 'dns_error', attempts: 1, status: 'pending' }),
    );
  });

  it('waits longer when the receiver asks for it', async () => {
    const { id } = await addDelivery(await newCustomer());
    receiver.reply({ status: 503, headers: { 'retry-after': '3600' } });
    dispatch();
    await eventually(async () => expect(await read(id)).toMatchObject({ lastHttpStatus: 503 }));
    const delivery = await read(id);
    expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThanOrEqual(
      delivery.updatedAt.getTime() + 3_600_000,
    );
  });
});

it('is signed with the newest secret of the customer', async () => {
  const customer = await newCustomer();
  const newSecret = randomBytes(32).toString('hex');
  await rotateSecret(db, customer.id, secretBox.seal(newSecret, customer.id));
  await addDelivery(customer);
  dispatch();
  expectGenuine(await receiver.next(), { id: customer.id, secret: newSecret });
});

describe('faults of this side', () => {
  it('sends again under the same ids and bytes when the process dies between the POST and its record', async () => {
    const customer = await newCustomer();
    const { id } = await addDelivery(customer);
    // The first dispatcher posts and is never heard of again: its answer is lost with it.
    const egress = createEgress({
      nodeEnv: 'test',
      allowedPorts: 'any',
      routes: new Map([[`${HOST}:443`, receiver.address]]),
      ca: receiver.ca,
    });
    const dying = createDispatcher({
      db,
      egress: {
        post: (url, options) => egress.post(url, options).then(() => new Promise<never>(() => undefined)),
      },
      secretBox,
      clock: systemClock,
      logger: silent,
      telemetry: untraced(),
      slots: 1,
      perCustomer: 16,
      pollMs: 20,
      leaseSeconds: 1,
    });
    dying.start();
    const first = await receiver.next();
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: 1 });
    void dying.close();

    dispatch();
    const second = await receiver.next();
    for (const name of ['svc-event-id', 'svc-delivery-id'])
      expect(header(second, name)).toBe(header(first, name));
    expect(second.body).toEqual(first.body);
    expectGenuine(second, customer);
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 2 }));
    expect(receiver.requests).toHaveLength(2);
  });

  it('settles a delivery once when the database goes away during the POST', async () => {
    const { id } = await addDelivery(await newCustomer());
    let cut: Promise<void> | undefined;
    receiver.reply(() => {
      cut = cutConnections(database);
      return { status: 200 };
    });
    dispatch();
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 }));
    await cut;
    expect(receiver.requests).toHaveLength(1);
  });

  it('signs nothing while the clock is off, and charges no attempt for it', async () => {
    const { id } = await addDelivery(await newCustomer());
    let offMs = 120_000;
    const errors: string[] = [];
    const logger: Logger = { ...silent, error: (message) => void errors.push(message) };
    dispatch({ clock: { now: () => Date.now() + offMs }, logger });
    await eventually(() => expect(errors).toContain('the clock is off, nothing is signed'));
    expect(await read(id)).toMatchObject({ attempts: 0, status: 'pending' });
    expect(receiver.requests).toHaveLength(0);
    offMs = 0;
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 }));
  });

  it('charges no attempt when the secret does not open', async () => {
    const { id } = await addDelivery(await newCustomer());
    dispatch({ secretBox: createSecretBox('cd'.repeat(32)) });
    await eventually(async () => {
      const delivery = await read(id);
      expect(delivery).toMatchObject({ attempts: 0, status: 'pending', lastError: null, claimToken: null });
      expect(delivery.nextAttemptAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('isolation', () => {
  const hangAt = (path: string) =>
    receiver.reply((request) => (request.path === path ? 'hang' : { status: 200 }));
  const arrivedAt = (path: string) => receiver.requests.filter((request) => request.path === path).length;

  it('keeps a hanging origin to its cap while another origin is served', async () => {
    const customer = await newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 20; index++) await addDelivery(customer, `${ORIGIN}/hang`);
    dispatch();
    await receiver.until(() => arrivedAt('/hang') === 8);
    const { id } = await addDelivery(customer, `https://${OTHER_HOST}/fine`);
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered' }));
    expect(arrivedAt('/hang')).toBe(8);
  });

  it('serves another origin at once while one that answers fast has a long backlog', async () => {
    const noisy = await newCustomer();
    await Promise.all(Array.from({ length: 300 }, () => addDelivery(noisy, `${ORIGIN}/noisy`)));
    await db.prisma.webhookDelivery.updateMany({ data: { nextAttemptAt: new Date(Date.now() - 60_000) } });
    await addDelivery(await newCustomer(), `https://${OTHER_HOST}/quiet`);
    dispatch({ slots: 16, perCustomer: 4 });
    await receiver.until(() => arrivedAt('/quiet') === 1);
    // It came with the first attempts, and not when the backlog was through.
    expect(arrivedAt('/noisy')).toBeLessThan(100);
  });

  it('keeps one customer to its cap over all dispatchers while another is served', async () => {
    const greedy = await newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 6; index++) await addDelivery(greedy, `${ORIGIN}/hang`);
    dispatch({ slots: 4, perCustomer: 2 });
    dispatch({ slots: 4, perCustomer: 2 });
    await receiver.until(() => arrivedAt('/hang') === 2);
    const { id } = await addDelivery(await newCustomer(), `${ORIGIN}/fine`);
    await eventually(async () => expect(await read(id)).toMatchObject({ status: 'delivered' }));
    expect(arrivedAt('/hang')).toBe(2);
  });

  it('delivers each of many once with two dispatchers at work', async () => {
    const customer = await newCustomer();
    const ids = [];
    for (let index = 0; index < 40; index++) ids.push((await addDelivery(customer)).id);
    dispatch();
    dispatch();
    await eventually(async () =>
      expect(await db.prisma.webhookDelivery.count({ where: { status: 'delivered' } })).toBe(40),
    );
    expect(receiver.requests.map((request) => header(request, 'svc-delivery-id')).sort()).toEqual(ids.sort());
  });
});

it('takes nothing new when it closes, and settles what is under way', async () => {
  const customer = await newCustomer();
  const { id } = await addDelivery(customer);
  receiver.reply('drip');
  // One slot, taken by the slow answer: no claim is under way when the closing begins.
  const dispatcher = dispatch({ timeoutMs: 3_000, slots: 1 });
  await receiver.next();
  const closed = dispatcher.close();
  const late = await addDelivery(customer);
  await closed;
  expect(await read(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(await read(late.id)).toMatchObject({ status: 'pending', attempts: 0 });
});

it('counts attempts by what they came to, deliveries by how they ended, and how late the first attempts were', async () => {
  const customer = await newCustomer();
  const telemetry = untraced();
  receiver.reply((_request, index) => ({ status: [200, 500, 302][index] ?? 200 }));
  dispatch({ telemetry, delaysSeconds: [0.05], slots: 1 });
  const taken = await addDelivery(customer);
  await eventually(async () => expect(await read(taken.id)).toMatchObject({ status: 'delivered' }));
  const gone = await addDelivery(customer);
  await eventually(async () => expect(await read(gone.id)).toMatchObject({ status: 'failed' }));
  const told = await eventually(async () => {
    const metrics = parseExposition(await telemetry.metrics.text());
    expect(metrics.value('lipsync_webhook_deliveries_total', { status: 'failed' })).toBe(1);
    return metrics;
  });
  const attempts = (result: string) => told.value('lipsync_webhook_attempts_total', { result });
  expect([attempts('delivered'), attempts('http_error'), attempts('redirect')]).toEqual([1, 1, 1]);
  expect(attempts('timeout')).toBe(0);
  expect(told.value('lipsync_webhook_deliveries_total', { status: 'delivered' })).toBe(1);
  expect(told.value('lipsync_webhook_attempt_duration_seconds_count')).toBe(3);
  expect(told.value('lipsync_webhook_first_attempt_lag_seconds_count')).toBe(2);
  expect(told.value('lipsync_webhook_in_flight')).toBe(0);
  const turns = { loop: 'dispatch', outcome: 'completed' };
  expect(told.value('lipsync_loop_turns_total', turns)).toBeGreaterThan(0);
});

it('counts and tells of a delivery that a claim found to be over, and does not send it', async () => {
  const customer = await newCustomer();
  const { id, eventId } = await addDelivery(customer);
  const createdAt = new Date(Date.now() - 2 * 86_400_000);
  await db.prisma.webhookDelivery.update({
    where: { id },
    data: { attempts: 3, lastError: 'http_error', createdAt },
  });
  const telemetry = untraced();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  dispatch({ telemetry, logger });
  const ended = await eventually(() => {
    const found = lines.filter((line) => line.includes('webhook_delivery_ended'));
    expect(found).toHaveLength(1);
    return found;
  });
  expect(JSON.parse(ended[0] ?? '')).toMatchObject({
    delivery_id: id,
    event_id: eventId,
    customer_id: customer.id,
    origin: ORIGIN,
    attempts: 3,
    error_class: 'http_error',
    status: 'failed',
  });
  const told = parseExposition(await telemetry.metrics.text());
  expect(told.value('lipsync_webhook_deliveries_total', { status: 'failed' })).toBe(1);
  expect(await read(id)).toMatchObject({ status: 'failed', attempts: 3 });
  expect(receiver.requests).toEqual([]);
});

it('attempts in the trace of the request whose record ended', async () => {
  const collector = await startOtlpCollector();
  const { metrics, tracing } = await openTelemetry({
    service: 'webhook-dispatcher',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER_ARG: 1 },
    logger: silent,
    lifecycle: { onShutdown: () => undefined },
  });
  const customer = await newCustomer();
  const { id, eventId } = await addDelivery(customer);
  const traceId = 'a'.repeat(32);
  const event = await db.prisma.webhookEvent.findUniqueOrThrow({ where: { id: eventId } });
  await db.prisma.render.create({
    data: {
      id: event.renderId ?? '',
      customerId: customer.id,
      ...{ status: 'completed', stage: 'completed', progressPercent: 100, syncMode: 'loop' },
      completedAt: event.createdAt,
      ...{ videoAssetId: 'video', audioAssetId: 'audio' },
      traceParent: `00-${traceId}-${'b'.repeat(16)}-01`,
      expiresAt: event.expiresAt,
    },
  });
  receiver.reply({ status: 503 });
  dispatch({ telemetry: { metrics, tracing } });
  await eventually(async () => expect(await read(id)).toMatchObject({ lastError: 'http_error' }));
  await tracing.close();
  expect(collector.spans()).toMatchObject([
    {
      service: 'webhook-dispatcher',
      name: 'webhook attempt',
      traceId,
      parentSpanId: 'b'.repeat(16),
      kind: 3,
      failed: true,
      attributes: {
        'error.type': 'http_error',
        'http.response.status_code': 503,
        'lipsync.delivery_id': id,
        'lipsync.attempt': 1,
      },
    },
  ]);
  await collector.close();
});

it('writes one log line per attempt with everything that is known, and no secret or body', async () => {
  const customer = await newCustomer();
  const { id, eventId } = await addDelivery(customer);
  const lines: string[] = [];
  dispatch({ logger: createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } }) });
  await eventually(() => expect(lines.some((line) => line.includes('webhook_attempt'))).toBe(true));
  const attempts = lines.filter((line) => line.includes('webhook_attempt'));
  expect(attempts).toHaveLength(1);
  expect(JSON.parse(attempts[0] ?? '')).toMatchObject({
    delivery_id: id,
    event_id: eventId,
    customer_id: customer.id,
    origin: ORIGIN,
    attempt: 1,
    outcome: 'delivered',
    http_status: 200,
    settled: true,
  });
  expect(lines.join('')).not.toMatch(new RegExp(`${customer.secret}|stored bytes|v1=`));
});
