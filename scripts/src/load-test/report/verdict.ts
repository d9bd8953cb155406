import { type CheckResult } from '../verify/check';
import { worstOf } from './quantiles';
import { type GeneratorFigures, type RenderReport, type StreamReport, type Verdict } from './report';

/** A 99th percentile of the lateness above this makes latencies that are the harness's own. */
const MAX_GENERATOR_LAG_MS = 100;
/** Callers served over callers that came, below which the service did not keep up. */
const MIN_SERVED = 0.95;
/** Renders added to the backlog in the second half, over those that came in it, above which it does not settle. */
const MAX_BACKLOG_GROWTH = 0.25;
/** Fewer arrivals than this are chance. */
const MIN_ARRIVALS = 20;
const MIN_RENDERS_FOR_TREND = 8;

export interface VerdictInput {
  readonly checks: readonly CheckResult[];
  readonly generator: GeneratorFigures;
  readonly streams: readonly StreamReport[];
  readonly renders: Pick<RenderReport, 'open_at_half' | 'open_at_end'> | null;
  /** Renders that were to be rendered and arrived in the second half of the run. */
  readonly renderArrivalsInSecondHalf: number;
}

/** What the figures are worth. A failed check outweighs saturation: that may be what made it fail. */
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

function serviceReasons({ streams, renders, renderArrivalsInSecondHalf }: VerdictInput): string[] {
  const reasons = streams.flatMap(({ name, arrivals, not_sent, completed }) => [
    ...(not_sent === 0
      ? []
      : [`${not_sent} of ${arrivals} arrivals of ${name} were not sent: too many were under way already.`]),
    ...(arrivals >= MIN_ARRIVALS && completed < arrivals * MIN_SERVED
      ? [`Of ${arrivals} callers of ${name} ${completed} got what they came for.`]
      : []),
  ]);
  if (renders === null || renderArrivalsInSecondHalf < MIN_RENDERS_FOR_TREND) return reasons;
  const growth = renders.open_at_end - renders.open_at_half;
  if (growth > MAX_BACKLOG_GROWTH * renderArrivalsInSecondHalf)
    reasons.push(
      `The backlog grew by ${growth} renders while ${renderArrivalsInSecondHalf} arrived: more came than were rendered.`,
    );
  return reasons;
}

function caveats({ renders, renderArrivalsInSecondHalf }: VerdictInput): string[] {
  return renders !== null && renderArrivalsInSecondHalf < MIN_RENDERS_FOR_TREND
    ? ['Too few renders arrived to tell whether a backlog would grow.']
    : [];
}
