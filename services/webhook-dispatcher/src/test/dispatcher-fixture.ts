import { randomBytes } from 'node:crypto';
import { createCustomer, createDb, type Db } from '@lipsync/db';
import { verifyWebhookSignature, WEBHOOK_RETRY_DELAYS_SECONDS } from '@lipsync/domain';
import { createEgress, createLogger, createSecretBox, type Egress, systemClock } from '@lipsync/runtime';
import { untraced } from '@lipsync/telemetry';
import { createTestDatabase, type ReceivedRequest, startHttpsReceiver, TEST_ACT } from '@lipsync/testkit';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../dispatcher';

const HOST = 'hooks.example.test';
export const ORIGIN = `https://${HOST}`;
const OTHER_HOST = 'other.example.test';
export const OTHER_ORIGIN = `https://${OTHER_HOST}`;

export const secretBox = createSecretBox('ab'.repeat(32));
export const silent = createLogger({ service: 'test', level: 'silent' });

export interface Customer {
  readonly id: string;
  readonly secret: string;
}

export interface NewDelivery {
  readonly id: string;
  readonly eventId: string;
  /** The render whose end it reports. */
  readonly renderId: string;
  readonly body: string;
}

/** A database, a receiver that gets all deliveries, and the dispatchers of one test. */
export type DispatcherFixture = Awaited<ReturnType<typeof openDispatcherFixture>>;

export async function openDispatcherFixture() {
  const database = await createTestDatabase();
  const db = createDb({ url: database.url, poolMax: 6, publicBaseUrl: 'https://api.example.test' });
  /** Answers as ORIGIN and as OTHER_ORIGIN. */
  const receiver = await startHttpsReceiver({ hostnames: [HOST, OTHER_HOST] });
  const running: Dispatcher[] = [];

  async function newCustomer(): Promise<Customer> {
    const secret = randomBytes(32).toString('hex');
    const row = await createCustomer(db, TEST_ACT, {
      name: 'test',
      sealSecret: (id) => secretBox.seal(secret, id),
    });
    return { id: row.id, secret };
  }

  /** Adds an event with a delivery that is due now, to ORIGIN by default. */
  async function addDelivery(customer: Customer, url = `${ORIGIN}/hook`): Promise<NewDelivery> {
    const now = new Date();
    const eventId = db.newId('evt');
    const renderId = db.newId('ren');
    const body = JSON.stringify({ id: eventId, type: 'render.completed', note: 'ü — stored bytes' });
    const id = db.newId('dlv');
    await db.prisma.webhookEvent.create({
      data: {
        id: eventId,
        customerId: customer.id,
        renderId,
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
    return { id, eventId, renderId, body };
  }

  /** Egress that reaches only the receiver, by these host names; by default both of its own. */
  function egressTo(hosts: readonly string[] = [HOST, OTHER_HOST]): Egress {
    const routes = new Map(hosts.map((host) => [`${host}:443`, receiver.address]));
    return createEgress({ nodeEnv: 'test', allowedPorts: 'any', routes, ca: receiver.ca });
  }

  /** A dispatcher that is not started. */
  function prepare(changes: Partial<DispatcherDeps> = {}): Dispatcher {
    return createDispatcher({
      db,
      egress: egressTo(),
      secretBox,
      clock: systemClock,
      logger: silent,
      telemetry: untraced(),
      slots: 64,
      perCustomer: 16,
      delaysSeconds: WEBHOOK_RETRY_DELAYS_SECONDS,
      pollMs: 20,
      ...changes,
    });
  }

  /** A running dispatcher, closed with the fixture. */
  function dispatch(changes: Partial<DispatcherDeps> = {}): Dispatcher {
    const dispatcher = prepare(changes);
    running.push(dispatcher);
    dispatcher.start();
    return dispatcher;
  }

  async function close(): Promise<void> {
    // The receiver closes first: whoever still waits for its response gets a reset.
    await receiver.close();
    await Promise.all(running.map((dispatcher) => dispatcher.close()));
    await db.close();
    await database.drop();
  }

  return {
    database,
    db,
    receiver,
    newCustomer,
    addDelivery,
    egressTo,
    prepare,
    dispatch,
    close,
    read: (id: string): ReturnType<Db['prisma']['webhookDelivery']['findUniqueOrThrow']> =>
      db.prisma.webhookDelivery.findUniqueOrThrow({ where: { id } }),
  };
}

export const header = (request: ReceivedRequest | undefined, name: string): string =>
  String(request?.headers[name]);

/** Whether the request carries a signature made just now with the customer's secret. */
export function isGenuine(request: ReceivedRequest, customer: Customer): boolean {
  return verifyWebhookSignature({
    secretHex: customer.secret,
    header: header(request, 'svc-signature'),
    deliveryId: header(request, 'svc-delivery-id'),
    body: request.body,
    nowSeconds: Date.now() / 1000,
  });
}
