import { eventually } from '@lipsync/testkit';
import {
  type DispatcherFixture,
  header,
  openDispatcherFixture,
  ORIGIN,
  OTHER_ORIGIN,
} from './test/dispatcher-fixture';

let fixture: DispatcherFixture;

beforeEach(async () => {
  fixture = await openDispatcherFixture();
});
afterEach(() => fixture.close());

describe('isolation', () => {
  const hangAt = (path: string) =>
    fixture.receiver.reply((request) => (request.path === path ? 'hang' : { status: 200 }));
  const arrivedAt = (path: string) =>
    fixture.receiver.requests.filter((request) => request.path === path).length;

  it('keeps a hanging origin to its cap while another origin is served', async () => {
    const customer = await fixture.newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 20; index++) await fixture.addDelivery(customer, `${ORIGIN}/hang`);
    fixture.dispatch();
    await fixture.receiver.until(() => arrivedAt('/hang') === 8);
    const { id } = await fixture.addDelivery(customer, `${OTHER_ORIGIN}/fine`);
    await eventually(async () => expect(await fixture.read(id)).toMatchObject({ status: 'delivered' }));
    expect(arrivedAt('/hang')).toBe(8);
  });

  it('serves another origin at once while a fast one has a long backlog', async () => {
    const noisy = await fixture.newCustomer();
    await Promise.all(Array.from({ length: 300 }, () => fixture.addDelivery(noisy, `${ORIGIN}/noisy`)));
    await fixture.db.prisma.webhookDelivery.updateMany({
      data: { nextAttemptAt: new Date(Date.now() - 60_000) },
    });
    await fixture.addDelivery(await fixture.newCustomer(), `${OTHER_ORIGIN}/quiet`);
    fixture.dispatch({ slots: 16, perCustomer: 4 });
    await fixture.receiver.until(() => arrivedAt('/quiet') === 1);
    // It arrived with the first attempts, not after the backlog.
    expect(arrivedAt('/noisy')).toBeLessThan(100);
  });

  it('keeps one customer to its cap across all dispatchers while another is served', async () => {
    const greedy = await fixture.newCustomer();
    hangAt('/hang');
    for (let index = 0; index < 6; index++) await fixture.addDelivery(greedy, `${ORIGIN}/hang`);
    fixture.dispatch({ slots: 4, perCustomer: 2 });
    fixture.dispatch({ slots: 4, perCustomer: 2 });
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
