import { openScenario, type Scenario } from '../../test/scenario';
import { cancelRender, enqueueJobs, QUEUE_NAMES, type QueueName, readBacklog } from '..';
import { type QueueBacklog } from './backlog';

const CAPS = { perOrigin: 2, perCustomer: 3 };

describe('readBacklog', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  beforeEach(() => scenario.empty());
  afterAll(() => scenario.close());

  async function queue(name: QueueName): Promise<QueueBacklog | undefined> {
    return (await readBacklog(scenario.db, CAPS)).queues.find((each) => each.queue === name);
  }

  it('reports every queue, even one without jobs or workers', async () => {
    await scenario.make.query('DELETE FROM workers');
    const { queues, ...webhooks } = await readBacklog(scenario.db, CAPS);
    expect(queues.map((each) => each.queue).sort()).toEqual([...QUEUE_NAMES].sort());
    const nothing = { blocked: 0, waiting: 0, enqueued: 0, running: 0, oldestSeconds: 0, liveSlots: 0 };
    for (const each of queues) expect(each).toEqual({ ...nothing, queue: each.queue });
    expect(webhooks).toEqual({ webhooksDue: 0, webhooksScheduled: 0, webhooksOldestDueSeconds: 0 });
  });

  it('follows jobs from blocked to waiting, enqueued, running and finished', async () => {
    const byUrl = { video: { url: 'https://media.example.com/a.mp4' } };
    await scenario.render(byUrl);
    expect(await queue('musetalk')).toMatchObject({ blocked: 1, waiting: 0, oldestSeconds: 0, liveSlots: 4 });
    expect(await queue('media')).toMatchObject({ blocked: 0, waiting: 1 });

    const { render } = await scenario.render();
    const [job] = await scenario.jobs(render.id);
    await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '1 hour' WHERE id = $1`, [
      job?.id,
    ]);
    const waiting = await queue('musetalk');
    expect(waiting).toMatchObject({ blocked: 1, waiting: 1, enqueued: 0 });
    expect(waiting?.oldestSeconds).toBeGreaterThanOrEqual(3600);

    await enqueueJobs(scenario.db, 'musetalk');
    expect(await queue('musetalk')).toMatchObject({ waiting: 0, enqueued: 1 });
    await scenario.claim(job?.id ?? '');
    expect(await queue('musetalk')).toMatchObject({ enqueued: 0, running: 1, oldestSeconds: 0 });
    await cancelRender(scenario.db, scenario.customerId, render.id);
    expect(await queue('musetalk')).toMatchObject({ blocked: 1, running: 0 });
  });

  it('distinguishes deliveries that are due from those that are scheduled', async () => {
    for (let i = 0; i < 2; i += 1) {
      const { render } = await scenario.render();
      await cancelRender(scenario.db, scenario.customerId, render.id);
    }
    await scenario.make.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour'
       WHERE id = (SELECT max(id) FROM webhook_deliveries)`,
    );
    await scenario.make.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 hour' WHERE next_attempt_at < now()`,
    );
    const { webhooksDue, webhooksScheduled, webhooksOldestDueSeconds } = await readBacklog(scenario.db, CAPS);
    expect([webhooksDue, webhooksScheduled]).toEqual([1, 1]);
    expect(webhooksOldestDueSeconds).toBeGreaterThanOrEqual(3600);
  });

  it('excludes from a queue’s age the jobs that wait only for other jobs of their own customer', async () => {
    const customerId = await scenario.make.customer({ activeRecordsMax: 100, runningJobsMax: 1 });
    const first = await scenario.render({}, customerId);
    await scenario.render({}, customerId);
    await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '1 hour'`);
    expect((await queue('musetalk'))?.oldestSeconds).toBeGreaterThanOrEqual(3600);
    await enqueueJobs(scenario.db, 'musetalk');
    // This one is enqueued and waits for a worker, which is the service's own delay.
    expect((await queue('musetalk'))?.oldestSeconds).toBeGreaterThanOrEqual(3600);
    const [job] = await scenario.jobs(first.render.id);
    await scenario.claim(job?.id ?? '');
    expect(await queue('musetalk')).toMatchObject({ running: 1, waiting: 1, oldestSeconds: 0 });
    // A job of another customer is counted beside it.
    await scenario.render();
    await scenario.make.query(
      `UPDATE jobs SET available_at = now() - interval '1 minute' WHERE customer_id = $1`,
      [scenario.customerId],
    );
    const oldest = (await queue('musetalk'))?.oldestSeconds;
    expect(oldest).toBeGreaterThanOrEqual(60);
    expect(oldest).toBeLessThan(3600);
  });

  it('counts a job of a queue without workers, even if its customer may not run more', async () => {
    const customerId = await scenario.make.customer({ activeRecordsMax: 100, runningJobsMax: 1 });
    const { render } = await scenario.render({}, customerId);
    const [job] = await scenario.jobs(render.id);
    await scenario.claim(job?.id ?? '');
    await scenario.render({ engines: ['highsync'] }, customerId);
    await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '1 hour'`);
    expect((await queue('highsync'))?.oldestSeconds).toBe(0);
    await scenario.make.query(`UPDATE workers SET slots = slots - 'highsync'`);
    expect((await queue('highsync'))?.oldestSeconds).toBeGreaterThanOrEqual(3600);
  });

  it('excludes from the deliveries’ age those that a claim skips: under way, or over the cap of their origin or customer', async () => {
    for (let i = 0; i < 4; i += 1) {
      const { render } = await scenario.render();
      await cancelRender(scenario.db, scenario.customerId, render.id);
    }
    await scenario.make.query(`UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 hour'`);
    const age = async () => (await readBacklog(scenario.db, CAPS)).webhooksOldestDueSeconds;
    const lease = (count: number) =>
      scenario.make.query(
        `UPDATE webhook_deliveries SET lease_until = CASE
           WHEN id IN (SELECT id FROM webhook_deliveries ORDER BY id LIMIT $1) THEN now() + interval '1 minute' END`,
        [count],
      );
    await lease(1);
    expect(await age()).toBeGreaterThanOrEqual(3600);
    await lease(2);
    expect(await age()).toBe(0);
    // The same customer has other receivers: two attempts at one of them are within its cap, three are not.
    await scenario.make.query(
      `UPDATE webhook_deliveries SET origin = 'https://other.example.com'
       WHERE id IN (SELECT id FROM webhook_deliveries ORDER BY id DESC LIMIT 2)`,
    );
    expect(await age()).toBeGreaterThanOrEqual(3600);
    await lease(3);
    expect(await age()).toBe(0);
    // Leases of a dispatcher that died delay nothing.
    await scenario.make.query(`UPDATE webhook_deliveries SET lease_until = now() - interval '1 second'`);
    expect(await age()).toBeGreaterThanOrEqual(3600);
    expect((await readBacklog(scenario.db, CAPS)).webhooksDue).toBe(4);
  });

  it('does not count the slots of a silent worker', async () => {
    await scenario.make.query(`UPDATE workers SET seen_at = now() - interval '1 minute'`);
    expect(await queue('media')).toMatchObject({ liveSlots: 0 });
  });
});
