import { createRandom, pick, pickWeighted } from '@lipsync/local-stack';
import { arrivalSchedule } from './callers/arrival-schedule';
import { type JourneyContext, JOURNEYS } from './callers/journeys';
import { type Clock, createInFlight, runOpenLoop } from './callers/open-loop';
import { type LoadTestConfig, type StreamConfig } from './config';
import { type Recorder } from './track/recorder';

export interface OfferOptions {
  readonly clock: Clock;
  readonly startAt: number;
  readonly config: LoadTestConfig;
  readonly context: JourneyContext;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
  /** Called from time to time with the number of callers in progress. */
  readonly onProgress: (inFlight: number) => void;
}

const PROGRESS_EVERY_MS = 5_000;

/** Runs the callers of every stream, each by its own schedule. Returns the largest number in progress at once. */
export async function offerLoad(options: OfferOptions): Promise<number> {
  const { clock, startAt, config, context, recorder, signal, onProgress } = options;
  // One limit for all streams, because it protects the memory of the process.
  const inFlight = createInFlight(config.maxInFlight);

  const run = (stream: StreamConfig): Promise<void> => {
    const { name, plan, mix } = stream;
    const random = createRandom(config.seed, `${name} journeys`);
    return runOpenLoop({
      clock,
      startAt,
      schedule: arrivalSchedule(plan, createRandom(config.seed, `${name} arrivals`)),
      inFlight,
      signal,
      onSent: ({ intendedAt }, lagMs) => recorder.sent(name, intendedAt, lagMs),
      onNotSent: ({ intendedAt }) => recorder.notSent(name, intendedAt),
      serve: async ({ intendedAt }) => {
        const journey = JOURNEYS[pickWeighted(mix, random)];
        const customer = pick(context.customers, random);
        const succeeded = await journey(context, { customer, stream, intendedAt, random });
        recorder.served(name, intendedAt, clock.now(), succeeded);
      },
    });
  };

  const progress = setInterval(() => onProgress(inFlight.current), PROGRESS_EVERY_MS);
  try {
    await Promise.all(config.streams.map(run));
  } finally {
    clearInterval(progress);
  }
  return inFlight.peak;
}
