import { type ClaimedDelivery, type DeliveryOutcome, type DeliveryState } from '@lipsync/db';
import { ATTEMPT_RESULTS, type Metrics } from '@lipsync/telemetry';

/** Totals over the attempts of this process. */
export interface DispatchMetrics {
  began(delivery: ClaimedDelivery): void;
  ended(outcome: DeliveryOutcome, seconds: number): void;
  /**
   * The state of the delivery after an attempt, or as a claim ended it; null when another process's attempt counted.
   */
  settled(state: DeliveryState | null): void;
}

export function createDispatchMetrics(metrics: Metrics): DispatchMetrics {
  const attempts = metrics.counter('webhook_attempts_total');
  const results = new Map<string, { inc(): void }>(
    ATTEMPT_RESULTS.map((result) => [result, attempts.at({ result })]),
  );
  const durations = metrics.histogram('webhook_attempt_duration_seconds').at({});
  const firstLags = metrics.histogram('webhook_first_attempt_lag_seconds').at({});
  const inFlight = metrics.gauge('webhook_in_flight');
  const deliveries = metrics.counter('webhook_deliveries_total');
  inFlight.set({}, 0);
  return {
    began: ({ attempt, waitedSeconds }) => {
      inFlight.add({}, 1);
      if (attempt === 1) firstLags.observe(waitedSeconds);
    },
    ended: (outcome, seconds) => {
      inFlight.add({}, -1);
      results.get(outcome.kind === 'failed' ? outcome.error : outcome.kind)?.inc();
      durations.observe(seconds);
    },
    settled: (state) => {
      if (state === 'delivered' || state === 'failed') deliveries.inc({ status: state });
    },
  };
}
