import { getDeliveryByEvent, redeliver } from '@lipsync/db';
import { TEST_ACT } from '@lipsync/testkit';
import { openOperator, type Operator } from '../test/operator';

interface Listed {
  delivery_id: string;
  event_id: string;
  customer_id: string;
}

describe('admin webhooks', () => {
  let operator: Operator;
  let customerId: string;
  let stranger: string;
  beforeAll(async () => {
    operator = await openOperator();
  });
  beforeEach(async () => {
    await operator.make.query('DELETE FROM webhook_deliveries; DELETE FROM webhook_events');
    customerId = await operator.make.customer();
    stranger = await operator.make.customer();
  });
  afterAll(() => operator.close());

  const failed = async (...args: string[]): Promise<string[]> =>
    (await operator.json<Listed[]>('webhooks', 'failed', ...args)).map(({ event_id: id }) => id);

  const stateOf = async (eventId: string, owner = customerId): Promise<string> =>
    (await getDeliveryByEvent(operator.db, owner, eventId)).delivery.status;

  const expire = (eventId: string) =>
    operator.make.query('UPDATE webhook_events SET expires_at = now() WHERE id = $1', [eventId]);

  describe('failed', () => {
    it('shows the customer, the destination and the outcome of each delivery', async () => {
      const eventId = await operator.failedEvent(customerId);
      const { delivery, event } = await getDeliveryByEvent(operator.db, customerId, eventId);
      expect(await operator.json('webhooks', 'failed')).toEqual([
        {
          delivery_id: delivery.id,
          event_id: eventId,
          type: 'render.cancelled',
          customer_id: customerId,
          origin: 'https://hooks.example.com',
          attempts: 1,
          last_error: 'http_error',
          http_status: 503,
          failed_at: delivery.updatedAt.toISOString(),
          expires_at: event.expiresAt.toISOString(),
        },
      ]);
      const { stdout } = await operator.run('webhooks', 'failed');
      expect(stdout).toMatch(/^delivery_id +event_id +type +customer_id +origin +attempts +last_error /);
      expect(stdout).not.toContain('of-the-customer');
    });

    it('lists the latest first, of one day by default', async () => {
      const old = await operator.failedEvent(customerId, 30);
      const first = await operator.failedEvent(customerId, 5);
      const last = await operator.failedEvent(stranger, 2);
      expect(await failed()).toEqual([last, first]);
      expect(await failed('--since', '2d')).toEqual([last, first, old]);
      expect(await failed('--since', '1h')).toEqual([]);
    });

    it('shows only the deliveries of a given customer', async () => {
      const own = await operator.failedEvent(customerId);
      await operator.failedEvent(stranger);
      expect(await failed('--customer', customerId)).toEqual([own]);
    });

    it('omits deliveries that are under way, and those that were repeated since', async () => {
      const eventId = await operator.failedEvent(customerId);
      await redeliver(operator.db, TEST_ACT, eventId);
      expect(await stateOf(eventId)).toBe('pending');
      expect(await failed()).toEqual([]);
    });

    it('shows the latest hundred and says how many more there are', async () => {
      const latest = await operator.failedEvent(customerId, 0);
      await operator.make.query(
        `INSERT INTO webhook_events (id, customer_id, render_id, type, body, expires_at)
         SELECT 'evt_' || i, $1, 'ren_' || i, 'render.failed', '{}', now() + interval '1 day'
         FROM generate_series(1, 102) AS i`,
        [customerId],
      );
      await operator.make.query(
        `INSERT INTO webhook_deliveries (id, event_id, customer_id, url, origin, status, attempts, last_error, updated_at)
         SELECT 'dlv_' || i, 'evt_' || i, $1, 'https://a.example.com/', 'https://a.example.com', 'failed', 11, 'timeout',
           now() - i * interval '1 minute'
         FROM generate_series(1, 102) AS i`,
        [customerId],
      );
      const { stdout, stderr, exitCode } = await operator.run('webhooks', 'failed', '--json');
      const listed = (JSON.parse(stdout) as Listed[]).map(({ event_id: id }) => id);
      expect(listed).toHaveLength(100);
      expect(listed.slice(0, 2)).toEqual([latest, 'evt_1']);
      expect({ stderr, exitCode }).toEqual({ stderr: 'admin: 3 earlier ones are not shown\n', exitCode: 0 });
    });
  });

  describe('redeliver --failed-since', () => {
    it('repeats everything that failed within the period and nothing else, exactly once', async () => {
      const recent = [await operator.failedEvent(customerId, 3), await operator.failedEvent(stranger, 1)];
      const old = await operator.failedEvent(customerId, 30);
      const repeat = () => operator.json('webhooks', 'redeliver', '--failed-since', '24h');
      expect(await repeat()).toEqual({ redelivered: 2, expired: 0 });
      const deliveries = await operator.make.query<{ event: string; statuses: string }>(
        `SELECT event_id AS event, string_agg(status, ' ' ORDER BY created_at, id) AS statuses
         FROM webhook_deliveries GROUP BY 1 ORDER BY min(updated_at) DESC`,
      );
      const byEvent = Object.fromEntries(deliveries.map(({ event, statuses }) => [event, statuses]));
      for (const eventId of recent) expect(byEvent[eventId]).toBe('failed pending');
      expect(byEvent[old]).toBe('failed');
      // Running the command again must not repeat deliveries that are pending.
      expect(await repeat()).toEqual({ redelivered: 0, expired: 0 });
    });

    it('leaves other customers alone if one is given', async () => {
      const own = await operator.failedEvent(customerId);
      const foreign = await operator.failedEvent(stranger);
      const args = ['webhooks', 'redeliver', '--failed-since', '24h', '--customer', customerId];
      expect(await operator.run(...args)).toEqual({
        exitCode: 0,
        stdout: 'redelivered          1\nexpired              0\n',
        stderr: '',
      });
      expect(await stateOf(own)).toBe('pending');
      expect(await stateOf(foreign, stranger)).toBe('failed');
    });

    it('reports expired events, does not send them, and goes on with the rest', async () => {
      const late = await operator.failedEvent(customerId, 3);
      const alive = await operator.failedEvent(customerId, 1);
      await expire(late);
      const args = ['webhooks', 'redeliver', '--failed-since', '24h', '--json'];
      const { exitCode, stdout, stderr } = await operator.run(...args);
      expect(JSON.parse(stdout)).toEqual({ redelivered: 1, expired: 1 });
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `admin: ${late} has expired\n` });
      expect(await stateOf(alive)).toBe('pending');
      expect(await operator.db.prisma.webhookDelivery.count({ where: { eventId: late } })).toBe(1);
    });

    it('excludes the id of one event, which is redelivered in any state', async () => {
      const eventId = await operator.failedEvent(customerId, 30);
      const answer = await operator.json('webhooks', 'redeliver', eventId);
      expect(answer).toMatchObject({ event_id: eventId, status: 'pending' });
      for (const args of [[], [eventId, '--failed-since', '24h'], [eventId, '--customer', customerId]]) {
        const { exitCode, stdout, stderr } = await operator.run('webhooks', 'redeliver', ...args);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
        expect(stderr).toMatch(/either the id of an event or --failed-since/);
      }
    });
  });

  it.each([
    ['failed', []],
    ['redeliver', ['--failed-since', '24h']],
  ])('%s distinguishes an unknown customer from one without failures', async (command, args) => {
    expect(await operator.run('webhooks', command, ...args, '--customer', 'cus_x')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'admin: there is no customer cus_x\n',
    });
  });
});
