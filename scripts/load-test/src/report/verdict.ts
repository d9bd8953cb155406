import { worstOf } from '../track/histogram';
import {
  type CheckResult,
  type GeneratorFigures,
  type Quantiles,
  type StreamReport,
  type Verdict,
  type WebhookReport,
} from './report';
import { milliseconds } from './summary';

/** Above this 99th percentile of lateness, the latencies are the harness's own. */
const MAX_GENERATOR_LAG_MS = 100;
/** Served callers divided by arrivals; below this the service did not keep up. */
const MIN_SERVED = 0.95;
/** With fewer arrivals the ratio is down to chance. */
const MIN_ARRIVALS = 20;
/** The service's objective, as its alerts have it: 99 % of webhooks are first attempted within this time. */
const MAX_WEBHOOK_LAG_MS = 10_000;

export interface VerdictInput {
  readonly checks: readonly CheckResult[];
  readonly generator: GeneratorFigures;
  readonly streams: readonly StreamReport[];
  /** One per stream, and one for renders if there were any. */
  readonly backlogs: readonly Backlog[];
  /** Null when webhooks could not reach the harness. */
  readonly webhooks: Pick<WebhookReport, 'first_attempt_lag_ms'> | null;
}

/** The verdict on a run. A failed check outweighs saturation, because the fault may be what caused the saturation. */
export function verdictOf(input: VerdictInput): Verdict {
  const failed = input.checks
    .filter(({ state }) => state === 'failed')
    .map(({ title }) => `Does not hold: ${title}.`);
  const generator = generatorReasons(input);
  const service = serviceReasons(input);
  if (failed.length > 0) return { outcome: 'failed', reasons: [...failed, ...generator, ...service] };
  if (generator.length > 0) return { outcome: 'generator_saturated', reasons: [...generator, ...service] };
  if (service.length > 0) return { outcome: 'service_saturated', reasons: service };
  return { outcome: 'carried', reasons: caveats(input) };
}

function generatorReasons({ generator: { lag_ms } }: VerdictInput): string[] {
  const lateMs = lag_ms === null ? 0 : worstOf(lag_ms).ms;
  return lateMs > MAX_GENERATOR_LAG_MS
    ? [`The harness itself sent arrivals late, by ${Math.round(lateMs)} ms at the 99th percentile.`]
    : [];
}

function serviceReasons({ streams, backlogs, webhooks }: VerdictInput): string[] {
  const unserved = streams.flatMap(({ name, arrivals, not_sent, completed }) => [
    ...(not_sent === 0
      ? []
      : [`${not_sent} of ${arrivals} arrivals of ${name} were not sent: too many were under way already.`]),
    ...(arrivals >= MIN_ARRIVALS && completed < arrivals * MIN_SERVED
      ? [`Of ${arrivals} callers of ${name} ${completed} got what they came for.`]
      : []),
  ]);
  const growing = backlogs
    .filter(grows)
    .map(
      ({ of, atHalf, atEnd, arrivedBetween }) =>
        `The backlog grew by ${atEnd - atHalf} ${of} while ${arrivedBetween} arrived: more came than were served.`,
    );
  return [...unserved, ...growing, ...lateWebhooks(webhooks?.first_attempt_lag_ms ?? null)];
}

function lateWebhooks(lag: Quantiles | null): string[] {
  if (lag === null) return [];
  const { name, ms } = worstOf(lag);
  return ms > MAX_WEBHOOK_LAG_MS
    ? [
        `Webhooks reached their receivers after ${name} ${milliseconds(ms)}; 99 % of them should within ${milliseconds(MAX_WEBHOOK_LAG_MS)}.`,
      ]
    : [];
}

function caveats({ backlogs }: VerdictInput): string[] {
  return backlogs
    .filter((backlog) => !tellsGrowth(backlog))
    .map(({ of }) => `Too few ${of} arrived in the second half to tell whether a backlog would grow.`);
}

/** How many were in progress at two moments, and how many arrived in between. */
export interface Backlog {
  /** What is counted, in words. */
  readonly of: string;
  readonly atHalf: number;
  readonly atEnd: number;
  readonly arrivedBetween: number;
  /** How many arrive together: chance is judged in batches. */
  readonly batch: number;
}

/** Growth of the backlog as a share of the arrivals meanwhile; above this it does not settle. */
const MAX_GROWTH = 0.25;
/** Multiple of the standard deviation by which two counts may differ by chance. */
const CHANCE = 2;
/** With fewer, a single arrival just before the end would look like growth. */
const MIN_BATCHES = 8;

/** Whether enough arrived to tell if the backlog would grow. */
function tellsGrowth({ arrivedBetween, batch }: Backlog): boolean {
  return arrivedBetween >= MIN_BATCHES * batch;
}

/** Whether arrivals exceed completions, so that waits grow for as long as this continues. */
function grows(backlog: Backlog): boolean {
  const { atHalf, atEnd, arrivedBetween, batch } = backlog;
  const byChance = CHANCE * Math.sqrt((atHalf + atEnd) * batch);
  return tellsGrowth(backlog) && atEnd - atHalf > Math.max(MAX_GROWTH * arrivedBetween, byChance);
}
