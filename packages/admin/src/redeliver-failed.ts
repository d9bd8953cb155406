import { type FailureSearch, findFailedEvents, redeliver, type Db } from '@lipsync/db';
import { isServiceError } from '@lipsync/domain';

export interface RedeliveryReport {
  redelivered: number;
  /** Ids of events that are too old to be delivered. */
  expired: string[];
}

/**
 * Delivers every event once more whose newest delivery has failed, one after the other. May be interrupted and repeated:
 * what was redelivered has not failed any more. Any other failure than an expiry ends it.
 */
export async function redeliverFailed(db: Db, search: FailureSearch): Promise<RedeliveryReport> {
  const report: RedeliveryReport = { redelivered: 0, expired: [] };
  for (const eventId of await findFailedEvents(db, search)) {
    try {
      // Null: purged since it was found, and so expired long before.
      if ((await redeliver(db, eventId)) === null) report.expired.push(eventId);
      else report.redelivered += 1;
    } catch (error) {
      if (!isServiceError(error) || error.code !== 'webhook_event_expired') throw error;
      report.expired.push(eventId);
    }
  }
  return report;
}
