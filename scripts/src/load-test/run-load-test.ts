import { randomBytes } from 'node:crypto';
import { arrivalSchedule } from './arrivals/arrival-schedule';
import { SYSTEM_CLOCK } from './arrivals/clock';
import { runOpenLoop } from './arrivals/open-loop';
import { createRandom, pick, pickWeighted, type Random } from './arrivals/random';
import { createHttpClient, type HttpClient } from './client/http-client';
import { createServiceClient, type ServiceClient } from './client/service-client';
import { type LoadTestConfig } from './config';
import { type JourneyContext } from './journeys/journey';
import { JOURNEYS } from './journeys/journeys';
import { createClockOffsetEstimate } from './measure/clock-offset';
import { createRecorder, type MeasuredRequest, type Recorder } from './measure/recorder';
import { readMediaFile } from './media-file';
import { prepareCustomer, seedRenders } from './prepare-customers';
import { createLedger } from './renders/ledger';
import { startPoller } from './renders/poller';
import { type TrackedRender } from './renders/tracked-render';
import { buildReport } from './report/build-report';
import { type LoadTestReport } from './report/report';
import { type RunResult } from './report/run-result';
import { startUsageMeter } from './report/usage-meter';
import { type LoadTarget } from './target/target';
import { retryAfterMs } from './verify/ask';
import { runChecks } from './verify/checks';
import { collectEvidence, type CompletedUpload } from './verify/collect-evidence';
import { drain, settleLostAnswers } from './verify/drain';

export interface RunOptions {
  readonly config: LoadTestConfig;
  readonly target: LoadTarget;
  /** Ends the arrivals early; what was accepted is still waited for and checked. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const clock = SYSTEM_CLOCK;
const POLL_CONCURRENCY = 8;
const SAY_EVERY_MS = 5_000;
/** Enough for a plot of the arrivals' time. */
const SLICES = 120;

/** Prepares, sends what the streams of the configuration offer, waits for what it caused, and checks it. */
export async function runLoadTest({ config, target, signal, say }: RunOptions): Promise<LoadTestReport> {
  const timeoutMs = config.timeoutSeconds * 1000;
  // What is asked on the side shall not take connections from what is measured.
  const http = createHttpClient({ connections: config.connections, timeoutMs });
  const sideHttp = createHttpClient({ connections: POLL_CONCURRENCY, timeoutMs });
  const clockOffset = createClockOffsetEstimate();
  let onRequest: (request: MeasuredRequest) => void = () => undefined;
  const clientFor = (apiKey: string, over: HttpClient): ServiceClient =>
    createServiceClient({
      baseUrl: target.baseUrl,
      apiKey,
      http: over,
      clockOffset,
      onRequest: (request) => onRequest(request),
    });

  const sideClients = target.customers.map(({ apiKey }) => clientFor(apiKey, sideHttp));
  const poller = startPoller({
    clock,
    intervalMs: config.pollIntervalSeconds * 1000,
    pollsPerSecond: config.pollsPerSecond,
    concurrency: POLL_CONCURRENCY,
    poll: async ({ id, customer }: TrackedRender) => {
      const client = sideClients[customer];
      if (client === undefined) return 0;
      const { body, headers, sentAt, answeredAt } = await client.call('get_render', {
        intendedAt: clock.now(),
        id,
        as: 'poll_render',
      });
      if (body !== null) ledger.observed(body, sentAt, answeredAt);
      return body === null ? (retryAfterMs(headers['retry-after']) ?? 0) : 0;
    },
  });
  const ledger = createLedger((render) => {
    if (render.end === null) poller.watch(render);
  });

  try {
    say(`Preparing ${target.customers.length} customer${target.customers.length === 1 ? '' : 's'} …`);
    const media = {
      video: readMediaFile(config.videoFile, 'video'),
      audio: readMediaFile(config.audioFile, 'audio'),
    };
    const customers = await Promise.all(
      target.customers.map(({ apiKey }, index) => prepareCustomer(index, clientFor(apiKey, http), media)),
    );
    const uploads: CompletedUpload[] = [];
    let warmUpEndsAt = Infinity;
    const runKey = randomBytes(6).toString('hex');
    let keys = 0;
    const { webhooks } = target;
    const context: JourneyContext = {
      customers,
      ledger,
      engines: config.engines,
      syncModes: config.syncModes,
      media: config.media,
      ...media,
      announce:
        webhooks &&
        ((customer, random) => {
          const behaviour = pickWeighted(config.receiverShares, random);
          return { url: webhooks.url(customer, behaviour), behaviour };
        }),
      isWarmUp: (intendedAt) => intendedAt < warmUpEndsAt,
      newKey: () => `load-${runKey}-${keys++}`,
      onUploaded: (customer, assetId) => void uploads.push({ customer, assetId }),
    };
    for (const customer of customers)
      await seedRenders(context, customer, createRandom(config.seed, `setup ${customer.index}`), config);

    const arrivalsSeconds = config.warmUpSeconds + config.durationSeconds;
    const sliceMs = Math.max(1, Math.ceil(arrivalsSeconds / SLICES)) * 1000;
    const startedAt = new Date();
    const startAt = clock.now();
    warmUpEndsAt = startAt + config.warmUpSeconds * 1000;
    const recorder = createRecorder({
      startAt,
      warmUpMs: config.warmUpSeconds * 1000,
      sliceMs,
      slices: Math.ceil(((arrivalsSeconds + config.drainSeconds) * 1000) / sliceMs),
    });
    onRequest = recorder.request;
    const stopMeter = startUsageMeter();
    const inFlight = { now: 0, peak: 0 };
    const status = setInterval(() => say(statusLine(recorder, ledger.open, inFlight.now)), SAY_EVERY_MS);
    await Promise.all(
      config.streams.map((stream) => {
        const random = createRandom(config.seed, `${stream.name} journeys`);
        return runOpenLoop({
          clock,
          startAt,
          schedule: arrivalSchedule(stream.plan, createRandom(config.seed, `${stream.name} arrivals`)),
          maxInFlight: config.maxInFlight,
          signal,
          onSent: ({ intendedAt }, lagMs) => recorder.sent(stream.name, intendedAt, lagMs),
          onNotSent: ({ intendedAt }) => recorder.notSent(stream.name, intendedAt),
          serve: async ({ intendedAt }) => {
            inFlight.peak = Math.max(inFlight.peak, ++inFlight.now);
            const succeeded = await serve(context, stream, intendedAt, random);
            inFlight.now--;
            recorder.served(stream.name, intendedAt, clock.now(), succeeded);
          },
        });
      }),
    ).finally(() => clearInterval(status));
    const usage = stopMeter();
    const arrivalsEndAt = Math.min(clock.now(), startAt + arrivalsSeconds * 1000);

    say('Arrivals are over: waiting for what they caused …');
    const deadline = clock.now() + config.drainSeconds * 1000;
    let saidAt = clock.now();
    const unsettled = await settleLostAnswers({ clock, ledger, deadline }, customers);
    await drain({
      clock,
      ledger,
      webhooks,
      deadline,
      onWaiting: (open, unannounced) => {
        if (clock.now() < saidAt + SAY_EVERY_MS) return;
        saidAt = clock.now();
        say(`  ${open} renders open, ${unannounced} not announced`);
      },
    });
    await poller.stop();
    onRequest = () => undefined;

    say('Checking …');
    const collected = await collectEvidence({ clock, config, customers, ledger, webhooks, uploads });
    const operations = [...recorder.operations.values()];
    const renders = [...ledger.renders()];
    const checks = runChecks({
      ...collected,
      renders,
      requests: {
        total: operations.reduce((sum, { requests }) => sum + requests, 0),
        failed: operations.reduce((sum, { failed }) => sum + failed, 0),
        errors: recorder.errors(),
      },
      replays: { count: ledger.replays, unmarked: ledger.unmarkedReplays, mismatches: ledger.mismatches },
      lostAnswers: { count: ledger.unansweredCreates.length, unsettled },
      webhooks: webhooks && {
        events: [...webhooks.log.events.values()],
        verifiesSignatures: webhooks.verifiesSignatures,
        forgedAttempts: webhooks.log.forgedAttempts,
        malformedAttempts: webhooks.log.malformedAttempts,
        deliveries: collected.deliveries,
      },
      maxFailureRatio: config.maxFailureRatio,
      drainSeconds: config.drainSeconds,
    });
    const result: RunResult = {
      config,
      target,
      recorder,
      renders,
      checks,
      startedAt,
      startAt,
      sliceMs,
      arrivalsEndAt,
      clockOffsetMs: target.isLocal ? 0 : (clockOffset.current()?.ms ?? 0),
      usage,
      inFlightPeak: inFlight.peak,
      stoppedEarly: signal.aborted,
    };
    return buildReport(result);
  } finally {
    await poller.stop();
    http.close();
    sideHttp.close();
  }
}

/** One caller. */
async function serve(
  context: JourneyContext,
  stream: LoadTestConfig['streams'][number],
  intendedAt: number,
  random: Random,
): Promise<boolean> {
  const journey = JOURNEYS[pickWeighted(stream.mix, random)];
  const customer = pick(context.customers, random);
  return journey(context, { customer, stream, intendedAt, random });
}

function statusLine({ slices, streams }: Recorder, open: number, inFlight: number): string {
  const total = (of: (slice: Recorder['slices'][number]) => number): number =>
    slices.reduce((sum, slice) => sum + of(slice), 0);
  const lag = Math.max(0, ...[...streams.values()].map((stream) => stream.lag.quantile(0.99) || 0));
  return [
    `  ${total(({ arrivals }) => arrivals)} arrivals`,
    `${total(({ completed }) => completed)} served`,
    `${total(({ failed }) => failed)} failed requests`,
    `${inFlight} under way`,
    `${open} renders open`,
    `lag p99 ${lag.toFixed(1)} ms`,
  ].join(', ');
}
