import { EgressError } from '@lipsync/runtime';
import { eventually } from '@lipsync/testkit';
import { type DispatcherFixture, openDispatcherFixture, ORIGIN } from './test/dispatcher-fixture';

let fixture: DispatcherFixture;

beforeEach(async () => {
  fixture = await openDispatcherFixture();
});
afterEach(() => fixture.close());

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
