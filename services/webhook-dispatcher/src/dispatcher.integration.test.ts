import { randomBytes } from 'node:crypto';
import { rotateSecret } from '@lipsync/db';
import { eventually } from '@lipsync/testkit';
import {
  type DispatcherFixture,
  header,
  isGenuine,
  openDispatcherFixture,
  secretBox,
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
  await rotateSecret(fixture.db, customer.id, secretBox.seal(newSecret, customer.id));
  await fixture.addDelivery(customer);
  fixture.dispatch();
  expect(isGenuine(await fixture.receiver.next(), { id: customer.id, secret: newSecret })).toBe(true);
});

it('claims nothing new when it closes, and settles what is in flight', async () => {
  const customer = await fixture.newCustomer();
  const { id } = await fixture.addDelivery(customer);
  fixture.receiver.reply('drip');
  // One slot, occupied by the slow response: no claim is running when closing begins.
  const dispatcher = fixture.dispatch({ timeoutMs: 3_000, slots: 1 });
  await fixture.receiver.next();
  const closed = dispatcher.close();
  const late = await fixture.addDelivery(customer);
  await closed;
  expect(await fixture.read(id)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(await fixture.read(late.id)).toMatchObject({ status: 'pending', attempts: 0 });
});
