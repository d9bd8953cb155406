import {
  type MachineFacts,
  type OperationReport,
  type RenderReport,
  type StreamReport,
  type Verdict,
  type WebhookReport,
} from './report';

export interface SummaryInput {
  readonly verdict: Verdict;
  readonly machine: MachineFacts;
  readonly target: string;
  readonly streams: readonly StreamReport[];
  readonly operations: readonly OperationReport[];
  readonly renders: RenderReport | null;
  readonly webhooks: WebhookReport | null;
}

/** What the run says, in one sentence that can be quoted. */
export function summarise(input: SummaryInput): string {
  const { machine, target } = input;
  const where = machine.shared_with_service
    ? `On ${machine.cpus} cores shared with the harness, ${target}`
    : capitalised(target);
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

function streamParts({ streams }: SummaryInput): string[] {
  return streams.map(
    ({ name, offered_per_second, completed_per_second }) =>
      `${rate(offered_per_second)} callers of ${name} (${rate(completed_per_second)} served)`,
  );
}

/** The operations that matter for the reader: the most frequent ones of the API that callers wait for. */
function operationParts({ operations }: SummaryInput): string[] {
  return operations
    .filter(({ operation, latency_ms }) => operation !== 'poll_render' && latency_ms !== null)
    .sort((a, b) => b.requests - a.requests)
    .slice(0, 2)
    .map(
      ({ operation, latency_ms }) =>
        `${operation} p50 ${duration(latency_ms?.p50)}, p99 ${duration(latency_ms?.p99)}`,
    );
}

function renderParts({ renders }: SummaryInput): string[] {
  if (renders?.end_to_end_ms == null) return [];
  const { completed_per_hour, queue_to_start_ms, end_to_end_ms } = renders;
  return [
    ...(completed_per_hour === null ? [] : [`${Math.round(completed_per_hour)} renders per hour`]),
    `from arrival to result p50 ${duration(end_to_end_ms.p50)}, p99 ${duration(end_to_end_ms.p99)}`,
    ...(queue_to_start_ms === null ? [] : [`from queue to start p50 ${duration(queue_to_start_ms.p50)}`]),
  ];
}

function webhookParts({ webhooks }: SummaryInput): string[] {
  const lag = webhooks?.first_attempt_lag_ms;
  return lag == null
    ? []
    : [`webhooks reached their receivers after p50 ${duration(lag.p50)}, p99 ${duration(lag.p99)}`];
}

function rate(perSecond: number): string {
  if (perSecond >= 1) return `${Number(perSecond.toPrecision(3))}/s`;
  return `${Number((perSecond * 60).toPrecision(3))}/min`;
}

export function duration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return '–';
  if (ms < 1) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`;
  return `${Number((ms / 1000).toPrecision(3))} s`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
