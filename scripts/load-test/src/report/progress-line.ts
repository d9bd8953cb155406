import { type Recorder, type Slice } from '../measure/recorder';
import { type LoggedEvent } from '../webhooks/event-log';
import { milliseconds } from './format';
import { firstAttemptLags } from './webhook-figures';

/** What a run has seen so far, on one line. Two delays can grow: the harness's own, and that of the webhooks. */
export function progressLine(run: {
  recorder: Pick<Recorder, 'slices' | 'streams'>;
  openRenders: number;
  inFlight: number;
  events: Iterable<Pick<LoggedEvent, 'createdAt' | 'firstAt'>>;
  clockOffsetMs: number;
}): string {
  const { slices, streams } = run.recorder;
  const total = (of: (slice: Slice) => number): number => slices.reduce((sum, slice) => sum + of(slice), 0);
  const lateness = Math.max(0, ...[...streams.values()].map((stream) => stream.lag.quantile(0.99) || 0));
  const lags = firstAttemptLags(run.events, run.clockOffsetMs);
  return [
    `  ${total(({ arrivals }) => arrivals)} arrivals`,
    `${total(({ completed }) => completed)} served`,
    `${total(({ failed }) => failed)} failed requests`,
    `${run.inFlight} under way`,
    `${run.openRenders} renders open`,
    `harness late by ${milliseconds(lateness)} (p99)`,
    ...(lags.count === 0 ? [] : [`webhooks after ${milliseconds(lags.quantile(0.99))} (p99)`]),
  ].join(', ');
}
