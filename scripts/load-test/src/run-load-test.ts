import { randomBytes } from 'node:crypto';
import { createRandom, pick, pickWeighted } from '@lipsync/local-stack';
import { createHttpClient, type HttpClient } from './callers/http-client';
import { type JourneyContext, JOURNEYS, readMediaFile } from './callers/journeys';
import { arrivalSchedule, createInFlight, runOpenLoop, SYSTEM_CLOCK } from './callers/open-loop';
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
import { type LoadTarget } from './target/load-target';
import { createLedger, type Ledger } from './track/ledger';
import { createAnswerTally } from './track/outcome';
import { type Poller, startPoller } from './track/poller';
import { createRecorder, type MeasuredRequest, type Recorder } from './track/recorder';
import { cancelLeftOvers, drain, settleLostAnswers, verifyRun } from './verify/verify-run';

interface RunOptions {
  readonly config: LoadTestConfig;
  readonly target: LoadTarget;
  /** Ends the arrivals early; accepted renders are still awaited and checked. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const POLL_CONCURRENCY = 8;
const SAY_EVERY_MS = 5_000;
/** Enough for a plot of the arrival time. */
const SLICES = 120;

/** Prepares the run, generates the configured load, waits for its effects, and checks them. */
export async function runLoadTest({ config, target, signal, say }: RunOptions): Promise<LoadTestReport> {
  const timeoutMs = config.timeout * 1000;
  // Requests on the side must not take connections from the measured ones.
  const http = createHttpClient({ connections: config.connections, timeoutMs });
  const sideHttp = createHttpClient({ connections: POLL_CONCURRENCY, timeoutMs });
  const clockOffset = createClockOffsetEstimate();
  const answers = { ofCallers: createAnswerTally(), beforeAndAfter: createAnswerTally() };
  // Preparation, drain and verification are not measured, but checked: most records end during the drain.
  let onRequest: (request: MeasuredRequest) => void = answers.beforeAndAfter.request;
  const ledger: Ledger = createLedger((render) => {
    if (render.end === null) poller.watch(render);
  });
  const clientsOver = (over: HttpClient): ServiceClient[] =>
    target.customers.map(({ apiKey }) =>
      createServiceClient({
        baseUrl: target.baseUrl,
        apiKey,
        http: over,
        clockOffset,
        onRequest: (request) => onRequest(request),
        onRender: ledger.observed,
      }),
    );
  const poller = pollThrough(clientsOver(sideHttp), config);

  try {
    say(`Preparing ${target.customers.length} customer${target.customers.length === 1 ? '' : 's'} …`);
    const video = await readMediaFile(config.video, 'video');
    const audio = await readMediaFile(config.audio, 'audio');
    const customers = await Promise.all(
      clientsOver(http).map((client, index) => prepareCustomer(index, client, { video, audio })),
    );
    const run: JourneyContext = {
      config,
      customers,
      ledger,
      video,
      audio,
      webhooks: target.webhooks,
      measuredFrom: Infinity,
      newKey: keySequence(),
      uploads: [],
    };
    for (const customer of customers) await seedRenders(run, customer);

    const warmUpMs = config.warmUp * 1000;
    const arrivalsMs = warmUpMs + config.duration * 1000;
    const sliceMs = Math.max(1, Math.ceil(arrivalsMs / 1000 / SLICES)) * 1000;
    const slices = Math.ceil((arrivalsMs + config.drain * 1000) / sliceMs);
    const startedAt = new Date();
    const startAt = performance.now();
    run.measuredFrom = startAt + warmUpMs;
    const halfAt = run.measuredFrom + (config.duration * 1000) / 2;
    // A signal after the last arrival only ends the wait for what is under way.
    let endAt = signal.aborted ? startAt : startAt + arrivalsMs;
    const stop = (): void => void (endAt = Math.min(endAt, performance.now()));
    signal.addEventListener('abort', stop, { once: true });
    const arrivalsEndAt = (): number => endAt;
    const recorder = createRecorder({ startAt, warmUpMs, halfAt, arrivalsEndAt, sliceMs, slices });
    onRequest = (request) => {
      answers.ofCallers.request(request);
      recorder.request(request);
    };
    // On one machine there is one clock, and nothing to estimate.
    const clockOffsetMs = (): number => (target.isLocal ? 0 : clockOffset.current());
    const inFlightPeak = await offerLoad({ startAt, run, recorder, signal }, (underWay) =>
      say(progressLine(run, recorder, underWay, clockOffsetMs())),
    );
    onRequest = answers.beforeAndAfter.request;

    say('Arrivals are over: waiting for what they caused …');
    const ending = { run, deadline: performance.now() + config.drain * 1000 };
    const unsettled = await settleLostAnswers(ending);
    await cancelLeftOvers(ending);
    let saidAt = performance.now();
    await drain(ending, (open, unannounced) => {
      if (performance.now() < saidAt + SAY_EVERY_MS) return;
      saidAt = performance.now();
      say(`  ${open} renders open, ${unannounced} not announced`);
    });
    await poller.stop();

    say('Checking …');
    const checks = await verifyRun({ run, answers, unsettled });
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
  readonly startAt: number;
  readonly run: JourneyContext;
  readonly recorder: Recorder;
  readonly signal: AbortSignal;
}

/** Runs the callers of every stream, each by its own schedule. Returns the largest number in progress at once. */
async function offerLoad(
  { startAt, run, recorder, signal }: OfferOptions,
  onProgress: (underWay: number) => void,
): Promise<number> {
  const { streams, seed, maxInFlight } = run.config;
  // One limit for all streams, because it protects the memory of the process.
  const inFlight = createInFlight(maxInFlight);

  const offer = (stream: StreamConfig): Promise<void> => {
    const { name, plan, mix } = stream;
    const random = createRandom(seed, `${name} journeys`);
    return runOpenLoop({
      clock: SYSTEM_CLOCK,
      startAt,
      schedule: arrivalSchedule(plan, createRandom(seed, `${name} arrivals`)),
      inFlight,
      signal,
      onSent: (intendedAt, lagMs) => recorder.sent(name, intendedAt, lagMs),
      onNotSent: (intendedAt) => recorder.notSent(name, intendedAt),
      serve: async (intendedAt) => {
        const journey = JOURNEYS[pickWeighted(mix, random)];
        const customer = pick(run.customers, random);
        const succeeded = await journey(run, { customer, stream, intendedAt, random });
        recorder.served(name, intendedAt, performance.now(), succeeded);
      },
    });
  };

  const progress = setInterval(() => onProgress(inFlight.current), SAY_EVERY_MS);
  try {
    await Promise.all(streams.map(offer));
  } finally {
    clearInterval(progress);
  }
  return inFlight.peak;
}

/** What a run has seen so far, on one line. Two delays can grow: the harness's own, and that of the webhooks. */
function progressLine(
  { ledger, webhooks }: JourneyContext,
  { slices, lag }: Recorder,
  underWay: number,
  clockOffsetMs: number,
): string {
  const total = (of: 'arrivals' | 'completed' | 'failed'): number =>
    slices.reduce((sum, slice) => sum + slice[of], 0);
  const lags = firstAttemptLags(webhooks?.log.events.values() ?? [], clockOffsetMs);
  return [
    `  ${total('arrivals')} arrivals`,
    `${total('completed')} served`,
    `${total('failed')} failed requests`,
    `${underWay} under way`,
    `${ledger.open} renders open`,
    `harness late by ${milliseconds(lag.quantile(0.99))} (p99)`,
    ...(lags.count === 0 ? [] : [`webhooks after ${milliseconds(lags.quantile(0.99))} (p99)`]),
  ].join(', ');
}

function pollThrough(clients: readonly ServiceClient[], config: LoadTestConfig): Poller {
  return startPoller({
    clock: SYSTEM_CLOCK,
    intervalMs: config.pollInterval * 1000,
    pollsPerSecond: config.pollRate,
    concurrency: POLL_CONCURRENCY,
    poll: async ({ id, customer }) => {
      const client = clients[customer];
      if (client === undefined) throw new Error(`there is no customer ${customer}`);
      const options = { intendedAt: performance.now(), id, as: 'poll_render' };
      const { body, headers } = await client.call('get_render', options);
      // Retry-After of an unfinished record is ignored: the harness polls more often.
      return body === null ? (retryAfterMs(headers['retry-after']) ?? 0) : 0;
    },
  });
}

/** Keys that no other run uses. */
function keySequence(): () => string {
  const run = randomBytes(6).toString('hex');
  let count = 0;
  return () => `load-${run}-${count++}`;
}
