import { randomBytes } from 'node:crypto';
import { createRandom, pick, pickWeighted } from '@lipsync/local-stack';
import { createHttpClient, type HttpClient } from './callers/http-client';
import { type JourneyContext, JOURNEYS, readMediaFile } from './callers/journeys';
import {
  arrivalSchedule,
  arrivalsEnd,
  type Clock,
  createInFlight,
  runOpenLoop,
  SYSTEM_CLOCK,
} from './callers/open-loop';
import { prepareCustomer, seedRenders } from './callers/prepare-customers';
import {
  createClockOffsetEstimate,
  createServiceClient,
  retryAfterMs,
  type ServiceClient,
} from './callers/service-client';
import { type LoadTestConfig, type StreamConfig } from './config';
import { buildReport } from './report/build-report';
import { firstAttemptLags } from './report/figures';
import { type LoadTestReport } from './report/report';
import { milliseconds } from './report/summary';
import { type LoadTarget, type WebhookSink } from './target/load-target';
import { type LoggedEvent } from './target/receiver';
import { createLedger, type Ledger } from './track/ledger';
import { createAnswerTally } from './track/outcome';
import { type Poller, startPoller } from './track/poller';
import { createRecorder, type MeasuredRequest, type Recorder, type Slice } from './track/recorder';
import { type CompletedUpload } from './verify/evidence';
import { cancelLeftOvers, drain, settleLostAnswers, verifyRun } from './verify/verify-run';

interface RunOptions {
  readonly config: LoadTestConfig;
  readonly target: LoadTarget;
  /** Ends the arrivals early; accepted renders are still awaited and checked. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const clock = SYSTEM_CLOCK;
const POLL_CONCURRENCY = 8;
const SAY_EVERY_MS = 5_000;
/** Enough for a plot of the arrival time. */
const SLICES = 120;

/** Prepares the run, generates the configured load, waits for its effects, and checks them. */
export async function runLoadTest({ config, target, signal, say }: RunOptions): Promise<LoadTestReport> {
  const timeoutMs = config.timeoutSeconds * 1000;
  // Requests on the side must not take connections from the measured ones.
  const http = createHttpClient({ connections: config.connections, timeoutMs });
  const sideHttp = createHttpClient({ connections: POLL_CONCURRENCY, timeoutMs });
  const clockOffset = createClockOffsetEstimate();
  const answers = { ofCallers: createAnswerTally(), beforeAndAfter: createAnswerTally() };
  // Preparation, drain and verification are not measured, but checked: most records end during the drain.
  let onRequest: (request: MeasuredRequest) => void = answers.beforeAndAfter.request;
  const clientOver =
    (over: HttpClient) =>
    ({ apiKey }: { apiKey: string }): ServiceClient =>
      createServiceClient({
        baseUrl: target.baseUrl,
        apiKey,
        http: over,
        clockOffset,
        onRequest: (request) => onRequest(request),
      });
  const ledger: Ledger = createLedger((render) => {
    if (render.end === null) poller.watch(render);
  });
  const poller = pollThrough(target.customers.map(clientOver(sideHttp)), ledger, config);

  try {
    say(`Preparing ${target.customers.length} customer${target.customers.length === 1 ? '' : 's'} …`);
    const { webhooks } = target;
    const uploads: CompletedUpload[] = [];
    const media = {
      video: readMediaFile(config.videoFile, 'video'),
      audio: readMediaFile(config.audioFile, 'audio'),
    };
    const customers = await Promise.all(
      target.customers.map(clientOver(http)).map((client, index) => prepareCustomer(index, client, media)),
    );
    const timing = { measuredFrom: Infinity };
    const context: JourneyContext = {
      customers,
      ledger,
      engines: config.engines,
      syncModes: config.syncModes,
      media: config.media,
      ...media,
      announce: webhooks && announceTo(webhooks, config),
      isWarmUp: (intendedAt) => intendedAt < timing.measuredFrom,
      newKey: keySequence(),
      onUploaded: (customer, assetId) => void uploads.push({ customer, assetId }),
    };
    for (const customer of customers)
      await seedRenders(context, customer, createRandom(config.seed, `setup ${customer.index}`), config);

    const warmUpMs = config.warmUpSeconds * 1000;
    const arrivalsMs = warmUpMs + config.durationSeconds * 1000;
    const sliceMs = Math.max(1, Math.ceil(arrivalsMs / 1000 / SLICES)) * 1000;
    const slices = Math.ceil((arrivalsMs + config.drainSeconds * 1000) / sliceMs);
    const startedAt = new Date();
    const startAt = clock.now();
    timing.measuredFrom = startAt + warmUpMs;
    const halfAt = timing.measuredFrom + (config.durationSeconds * 1000) / 2;
    const arrivalsEndAt = arrivalsEnd(clock, startAt + arrivalsMs, signal);
    const recorder = createRecorder({ startAt, warmUpMs, halfAt, arrivalsEndAt, sliceMs, slices });
    onRequest = (request) => {
      answers.ofCallers.request(request);
      recorder.request(request);
    };
    // On one machine there is one clock, and nothing to estimate.
    const clockOffsetMs = (): number => (target.isLocal ? 0 : (clockOffset.current()?.ms ?? 0));
    const onProgress = (inFlight: number): void =>
      say(
        progressLine({
          recorder,
          openRenders: ledger.open,
          inFlight,
          events: webhooks?.log.events.values() ?? [],
          clockOffsetMs: clockOffsetMs(),
        }),
      );
    const inFlightPeak = await offerLoad({ clock, startAt, config, context, recorder, signal, onProgress });
    onRequest = answers.beforeAndAfter.request;

    say('Arrivals are over: waiting for what they caused …');
    const deadline = clock.now() + config.drainSeconds * 1000;
    const unsettled = await settleLostAnswers({ clock, ledger, deadline }, customers);
    await cancelLeftOvers({ clock, ledger, deadline }, customers);
    const onWaiting = atMostEvery(SAY_EVERY_MS, (open: number, unannounced: number) =>
      say(`  ${open} renders open, ${unannounced} not announced`),
    );
    await drain({ clock, ledger, webhooks, deadline, onWaiting });
    await poller.stop();

    say('Checking …');
    const checks = await verifyRun({
      clock,
      config,
      customers,
      ledger,
      webhooks,
      uploads,
      answers,
      unsettled,
    });
    return buildReport({
      config,
      target,
      recorder,
      renders: [...ledger.renders()],
      checks,
      startedAt,
      startAt,
      sliceMs,
      halfAt,
      arrivalsEndAt: arrivalsEndAt(),
      clockOffsetMs: clockOffsetMs(),
      inFlightPeak,
      stoppedEarly: signal.aborted,
    });
  } finally {
    await poller.stop();
    http.close();
    sideHttp.close();
  }
}

interface OfferOptions {
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

function pollThrough(clients: readonly ServiceClient[], ledger: Ledger, config: LoadTestConfig): Poller {
  return startPoller({
    clock,
    intervalMs: config.pollIntervalSeconds * 1000,
    pollsPerSecond: config.pollsPerSecond,
    concurrency: POLL_CONCURRENCY,
    poll: async ({ id, customer }) => {
      const client = clients[customer];
      if (client === undefined) throw new Error(`there is no customer ${customer}`);
      const options = { intendedAt: clock.now(), id, as: 'poll_render' };
      const { body, headers, sentAt, answeredAt } = await client.call('get_render', options);
      if (body === null) return retryAfterMs(headers['retry-after']) ?? 0;
      ledger.observed(body, sentAt, answeredAt);
      // Retry-After of an unfinished record is ignored: the harness polls more often.
      return 0;
    },
  });
}

function announceTo(webhooks: WebhookSink, { receiverShares }: LoadTestConfig): JourneyContext['announce'] {
  return (customer, random) => {
    const behavior = pickWeighted(receiverShares, random);
    return { url: webhooks.url(customer, behavior), behavior };
  };
}

/** Keys that no other run uses. */
function keySequence(): () => string {
  const run = randomBytes(6).toString('hex');
  let count = 0;
  return () => `load-${run}-${count++}`;
}

function atMostEvery<Args extends unknown[]>(
  ms: number,
  call: (...args: Args) => void,
): (...args: Args) => void {
  let calledAt = clock.now();
  return (...args) => {
    if (clock.now() < calledAt + ms) return;
    calledAt = clock.now();
    call(...args);
  };
}
