import { type Backlog } from '@lipsync/db';
import { withTimeout } from '@lipsync/queue';
import { type Clock, createOutageNotice, type Logger } from '@lipsync/runtime';
import { type Metrics } from '@lipsync/telemetry';

/** Scrapes within this time share one database query. */
const FRESH_MS = 2_000;
/** A scrape times out after ten seconds by default, and the other metrics must not wait for a hanging database. */
const DEADLINE_MS = 3_000;

/**
 * Exports the backlog of the whole system at every scrape, as `read` returns it. While it cannot be read, its metrics
 * are omitted: an old number would look like a stalled queue. No alert on the backlog can fire then, so the failure is
 * logged once, and once more when reading works again.
 */
export function exportBacklog(
  metrics: Metrics,
  deps: { read: () => Promise<Backlog>; clock: Clock; logger: Pick<Logger, 'info' | 'warn'> },
): void {
  const jobs = metrics.gauge('queue_jobs');
  const oldest = metrics.gauge('queue_oldest_seconds');
  const slots = metrics.gauge('live_slots');
  const webhooks = metrics.gauge('webhook_backlog');
  const oldestDue = metrics.gauge('webhook_oldest_due_seconds');
  let readAtMs = -Infinity;
  let reading: Promise<void> | undefined;
  const outage = createOutageNotice({
    begins: (error) => deps.logger.warn('the backlog cannot be read', { error }),
    ends: () => deps.logger.info('the backlog can be read again'),
  });

  function set(backlog: Backlog): void {
    for (const each of backlog.queues) {
      const { queue, blocked, waiting, enqueued, running, oldestSeconds, liveSlots } = each;
      jobs.set({ queue, state: 'blocked' }, blocked);
      jobs.set({ queue, state: 'waiting' }, waiting);
      jobs.set({ queue, state: 'enqueued' }, enqueued);
      jobs.set({ queue, state: 'running' }, running);
      oldest.set({ queue }, oldestSeconds);
      slots.set({ queue }, liveSlots);
    }
    webhooks.set({ state: 'due' }, backlog.webhooksDue);
    webhooks.set({ state: 'scheduled' }, backlog.webhooksScheduled);
    oldestDue.set({}, backlog.webhooksOldestDueSeconds);
  }

  async function look(): Promise<void> {
    const startedAtMs = deps.clock.now();
    try {
      set(await withTimeout('the database', DEADLINE_MS, deps.read()));
      readAtMs = startedAtMs;
      outage.worked();
    } catch (error) {
      outage.failed(error);
      for (const gauge of [jobs, oldest, slots, webhooks, oldestDue]) gauge.reset();
      readAtMs = -Infinity;
    } finally {
      reading = undefined;
    }
  }

  metrics.onScrape(async () => {
    if (deps.clock.now() - readAtMs >= FRESH_MS) await (reading ??= look());
  });
}
