import { type Db, type FailureSearch, findFailedEvents, redeliver } from '@lipsync/db';
import { isServiceError } from '@lipsync/domain';

export interface RedeliveryReport {
  redelivered: number;
  /** Ids of events that have expired and cannot be delivered any more. */
  expired: string[];
}

/**
 * Redelivers, one by one, every event whose latest delivery has failed. May be interrupted and repeated, because a
 * redelivered event no longer counts as failed. Stops at any failure other than an expired event.
 */
export async function redeliverFailed(db: Db, search: FailureSearch): Promise<RedeliveryReport> {
  const report: RedeliveryReport = { redelivered: 0, expired: [] };
  for (const eventId of await findFailedEvents(db, search)) {
    try {
      // Null: purged since the search, so it must have expired.
      if ((await redeliver(db, eventId)) === null) report.expired.push(eventId);
      else report.redelivered += 1;
    } catch (error) {
      if (!isServiceError(error) || error.code !== 'webhook_event_expired') throw error;
      report.expired.push(eventId);
    }
  }
  return report;
}
