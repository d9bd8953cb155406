import { worstOf } from '../track/histogram';
import { type LoadTestReport, type Quantiles, type Verdict } from './report';

export type ReportFacts = Omit<LoadTestReport, 'schema_version' | 'summary'>;

/** The result of the run in one quotable sentence. */
export function summarize(input: ReportFacts): string {
  const { machine, target } = input;
  const where = machine.shared_with_service
    ? `On ${machine.cpus} cores shared with the harness, ${target.description}`
    : capitalized(target.description);
  const parts = [
    ...streamParts(input),
    ...operationParts(input),
    ...renderParts(input),
    ...webhookParts(input),
  ];
  return `${where} ${VERB[input.verdict.outcome]} ${parts.join('; ')}.`;
}

const VERB: Readonly<Record<Verdict['outcome'], string>> = {
  carried: 'carried',
  service_saturated: 'did not keep up with',
  generator_saturated: 'was offered, by a harness that was itself too slow,',
  failed: 'failed checks at',
};

function streamParts({ streams }: ReportFacts): string[] {
  return streams.map(
    ({ name, offered_per_second, completed_per_second }) =>
      `${perSecond(offered_per_second)} callers of ${name} (${perSecond(completed_per_second)} served)`,
  );
}

/** The operations that matter to the reader: the most frequent API operations that callers wait for. */
function operationParts({ operations }: ReportFacts): string[] {
  return operations
    .filter(({ operation, latency_ms }) => operation !== 'poll_render' && latency_ms !== null)
    .sort((a, b) => b.requests - a.requests)
    .slice(0, 2)
    .map(({ operation, latency_ms }) => `${operation} ${typicalAndWorst(latency_ms)}`);
}

function renderParts({ renders }: ReportFacts): string[] {
  if (renders?.end_to_end_ms == null) return [];
  const { completed_per_hour, queue_to_start_ms, end_to_end_ms } = renders;
  return [
    ...(completed_per_hour === null ? [] : [`${Math.round(completed_per_hour)} renders per hour`]),
    `from arrival to result ${typicalAndWorst(end_to_end_ms)}`,
    ...(queue_to_start_ms === null ? [] : [`from queue to start p50 ${milliseconds(queue_to_start_ms.p50)}`]),
  ];
}

function webhookParts({ webhooks }: ReportFacts): string[] {
  const lag = webhooks?.first_attempt_lag_ms;
  return lag == null ? [] : [`webhooks reached their receivers after ${typicalAndWorst(lag)}`];
}

function typicalAndWorst(figures: Quantiles | null): string {
  if (figures === null) return 'unmeasured';
  const worst = worstOf(figures);
  return `p50 ${milliseconds(figures.p50)}, ${worst.name} ${milliseconds(worst.ms)}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** 0.42 ms, 12.3 ms, 1.25 s, 3.1 min */
export function milliseconds(ms: number | null | undefined): string {
  if (ms == null || Number.isNaN(ms)) return '–';
  if (ms === 0) return '0';
  if (ms < 1000) return `${significant(ms)} ms`;
  if (ms < 120_000) return `${significant(ms / 1000)} s`;
  return `${significant(ms / 60_000)} min`;
}

export function perSecond(rate: number): string {
  return rate >= 1 || rate === 0 ? `${significant(rate)}/s` : `${significant(rate * 60)}/min`;
}

export function whole(count: number): string {
  return count.toLocaleString('en-GB');
}

export function percent(share: number): string {
  return `${significant(share * 100)} %`;
}

export function significant(value: number): string {
  return value >= 1000 ? whole(Math.round(value)) : String(Number(value.toPrecision(3)));
}
