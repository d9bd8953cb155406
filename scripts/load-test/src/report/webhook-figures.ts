import { type Histogram } from '../measure/histogram';
import { type LoggedEvent } from '../webhooks/event-log';
import { distributionOf, histogramOf, quantilesOf } from './quantiles';
import { type WebhookReport } from './report';

/**
 * How quickly events arrived. `offsetMs` is how far the service's clock is ahead of the one that recorded the arrivals.
 */
export function webhookFigures(events: readonly LoggedEvent[], offsetMs: number): WebhookReport {
  const lags = (of: readonly LoggedEvent[]) => firstAttemptLags(of, offsetMs);
  const behaviours = [...new Set(events.map(({ behaviour }) => behaviour))];
  return {
    events: events.length,
    attempts: events.reduce((sum, { attempts }) => sum + attempts, 0),
    redeliveries: events.reduce((sum, { redeliveries }) => sum + redeliveries, 0),
    first_attempt_lag_ms: quantilesOf(lags(events)),
    by_receiver: Object.fromEntries(
      behaviours.map((behaviour) => {
        const own = events.filter((event) => event.behaviour === behaviour);
        return [
          behaviour,
          {
            events: own.length,
            acknowledged: own.filter(({ acknowledged }) => acknowledged).length,
            first_attempt_lag_ms: quantilesOf(lags(own)),
            first_attempt_lag_distribution: distributionOf(lags(own)),
          },
        ];
      }),
    ),
  };
}

/** Milliseconds from each event to the arrival of its first attempt. */
export function firstAttemptLags(
  events: Iterable<Pick<LoggedEvent, 'createdAt' | 'firstAt'>>,
  offsetMs: number,
): Histogram {
  return histogramOf([...events].map(({ createdAt, firstAt }) => firstAt + offsetMs - createdAt));
}
