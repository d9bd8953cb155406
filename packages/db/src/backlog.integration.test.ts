import { openScenario, type Scenario } from '../test/scenario';
import { admitJobs, cancelRender, QUEUE_NAMES, type QueueBacklog, type QueueName, readBacklog } from '.';

describe('readBacklog', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await openScenario();
  });
  afterEach(() => scenario.close());

  async function queue(name: QueueName): Promise<QueueBacklog | undefined> {
    return (await readBacklog(scenario.db)).queues.find((each) => each.queue === name);
  }

  it('tells every queue, also one that nothing waits in and nobody serves', async () => {
    await scenario.make.query('DELETE FROM workers');
    const { queues, ...webhooks } = await readBacklog(scenario.db);
    expect(queues.map((each) => each.queue).sort()).toEqual([...QUEUE_NAMES].sort());
    const nothing = { blocked: 0, waiting: 0, dispatched: 0, running: 0, oldestSeconds: 0, liveSlots: 0 };
    for (const each of queues) expect(each).toEqual({ ...nothing, queue: each.queue });
    expect(webhooks).toEqual({ webhooksDue: 0, webhooksScheduled: 0, webhooksOldestDueSeconds: 0 });
  });

  it('follows jobs from blocked to waiting, dispatched, running and out', async () => {
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
    expect(waiting).toMatchObject({ blocked: 1, waiting: 1, dispatched: 0 });
    expect(waiting?.oldestSeconds).toBeGreaterThanOrEqual(3600);

    await admitJobs(scenario.db, 'musetalk');
    expect(await queue('musetalk')).toMatchObject({ waiting: 0, dispatched: 1 });
    await scenario.claim(job?.id ?? '');
    expect(await queue('musetalk')).toMatchObject({ dispatched: 0, running: 1, oldestSeconds: 0 });
    await cancelRender(scenario.db, scenario.customerId, render.id);
    expect(await queue('musetalk')).toMatchObject({ blocked: 1, running: 0 });
  });

  it('tells deliveries that are due from those that are scheduled', async () => {
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
    const { webhooksDue, webhooksScheduled, webhooksOldestDueSeconds } = await readBacklog(scenario.db);
    expect([webhooksDue, webhooksScheduled]).toEqual([1, 1]);
    expect(webhooksOldestDueSeconds).toBeGreaterThanOrEqual(3600);
  });

  it('counts no slots of a worker that has been silent', async () => {
    await scenario.make.query(`UPDATE workers SET seen_at = now() - interval '1 minute'`);
    expect(await queue('media')).toMatchObject({ liveSlots: 0 });
  });
});
