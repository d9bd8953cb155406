import { type Backlog } from '@lipsync/db';
import { createMetrics } from '@lipsync/telemetry';
import { parseExposition } from '@lipsync/testkit';
import { exportBacklog } from './backlog-gauges';

const BACKLOG: Backlog = {
  queues: [
    {
      queue: 'musetalk',
      blocked: 1,
      waiting: 2,
      enqueued: 3,
      running: 4,
      oldestSeconds: 5.5,
      liveSlots: 6,
    },
  ],
  webhooksDue: 7,
  webhooksScheduled: 8,
  webhooksOldestDueSeconds: 9,
};

describe('exportBacklog', () => {
  let now = 0;
  const clock = { now: () => now };
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const logger = { info: say, warn: say };
  beforeEach(() => said.splice(0));
  const told = async (metrics: ReturnType<typeof createMetrics>) => parseExposition(await metrics.text());

  it('exports every number of the backlog', async () => {
    const metrics = createMetrics();
    exportBacklog(metrics, { read: async () => BACKLOG, clock, logger });
    const { value } = await told(metrics);
    const jobs = (state: string) => value('lipsync_queue_jobs', { queue: 'musetalk', state });
    expect([jobs('blocked'), jobs('waiting'), jobs('enqueued'), jobs('running')]).toEqual([1, 2, 3, 4]);
    expect(value('lipsync_queue_oldest_seconds')).toBe(5.5);
    expect(value('lipsync_live_slots')).toBe(6);
    expect(value('lipsync_webhook_backlog', { state: 'due' })).toBe(7);
    expect(value('lipsync_webhook_backlog', { state: 'scheduled' })).toBe(8);
    expect(value('lipsync_webhook_oldest_due_seconds')).toBe(9);
  });

  it('queries the database once for simultaneous scrapes, and again after two seconds', async () => {
    const metrics = createMetrics();
    const read = jest.fn(async () => BACKLOG);
    exportBacklog(metrics, { read, clock, logger });
    await Promise.all([told(metrics), told(metrics)]);
    now += 1_000;
    await told(metrics);
    expect(read).toHaveBeenCalledTimes(1);
    now += 1_000;
    await told(metrics);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('exports other metrics, omits the backlog, and logs it, while the database does not answer', async () => {
    const metrics = createMetrics();
    let read = async () => BACKLOG;
    exportBacklog(metrics, { read: () => read(), clock, logger });
    metrics.counter('ingest_bytes_total').inc({}, 5);
    await told(metrics);
    now += 60_000;
    read = () => Promise.reject(new Error('away'));
    const { families, value } = await told(metrics);
    expect(value('lipsync_ingest_bytes_total')).toBe(5);
    expect(families.get('lipsync_queue_jobs')?.samples).toEqual([]);
    expect(value('lipsync_webhook_oldest_due_seconds')).toBeUndefined();
    await told(metrics);
    expect(said).toEqual(['the backlog cannot be read']);
    read = async () => BACKLOG;
    expect((await told(metrics)).value('lipsync_webhook_oldest_due_seconds')).toBe(9);
    expect(said).toEqual(['the backlog cannot be read', 'the backlog can be read again']);
  });

  it('does not wait for a database that hangs', async () => {
    jest.useFakeTimers();
    const metrics = createMetrics();
    exportBacklog(metrics, { read: () => new Promise(() => undefined), clock, logger });
    const scraped = told(metrics);
    await jest.advanceTimersByTimeAsync(3_001);
    expect((await scraped).families.get('lipsync_queue_jobs')?.samples).toEqual([]);
    jest.useRealTimers();
  });
});
