import { milliseconds, perSecond, significant, whole } from '../format';
import { type LoadTestReport, type OperationReport, type RenderReport, type WebhookReport } from '../report';
import { arrivalsChart, backlogChart, cumulativeChart, latencyCharts, percentileChart } from './charts';
import { type Markup, markup } from './markup';
import { table } from './table';

/** More small charts would hide the important ones. */
const MAX_LATENCY_CHARTS = 6;

export function loadSection({ streams, series }: LoadTestReport): Markup {
  return markup`<h2>Offered and carried</h2>
${arrivalsChart(series)}
<h3>By kind of caller</h3>
${table(streams, [
  { head: 'Callers', cell: ({ name }) => name },
  { head: 'Offered', isNumber: true, cell: ({ offered_per_second }) => perSecond(offered_per_second) },
  { head: 'Served', isNumber: true, cell: ({ completed_per_second }) => perSecond(completed_per_second) },
  { head: 'Came', isNumber: true, cell: ({ arrivals }) => whole(arrivals) },
  { head: 'Not served', isNumber: true, cell: ({ failed }) => whole(failed) },
  { head: 'Not sent', isNumber: true, cell: ({ not_sent }) => whole(not_sent) },
  { head: 'Under way at the end', isNumber: true, cell: ({ under_way_at_end }) => whole(under_way_at_end) },
  { head: 'p50', isNumber: true, cell: ({ latency_ms }) => milliseconds(latency_ms?.p50) },
  { head: 'p99', isNumber: true, cell: ({ latency_ms }) => milliseconds(latency_ms?.p99) },
])}<p class="note">A caller arrives at a moment that was settled before the run (Poisson, seeded), whether or not earlier callers have been answered; how many came is chance around the rate that was offered. A caller is served when all that it came for was answered as it should be; its time runs from its arrival. The rate counts those served while callers came; who was under way at the end has been waited for. A caller that wants a render is served when that is accepted.</p>`;
}

export function latencySection({ operations, series }: LoadTestReport): Markup {
  const byRequests = [...operations].sort((a, b) => b.requests - a.requests);
  const measured = byRequests.filter(({ latency_ms }) => latency_ms !== null).slice(0, MAX_LATENCY_CHARTS);
  const quantile = (head: string, of: (operation: OperationReport) => number | null | undefined) => ({
    head,
    isNumber: true,
    cell: (operation: OperationReport) => milliseconds(of(operation)),
  });
  return markup`<h2>Latency</h2>
${percentileChart(measured)}
<h3>By operation</h3>
${table(byRequests, [
  { head: 'Operation', cell: ({ operation }) => markup`<code>${operation}</code>` },
  { head: 'Requests', isNumber: true, cell: ({ requests }) => whole(requests) },
  // One unit for the whole column, so that it can be compared at a glance.
  { head: 'Per second', isNumber: true, cell: ({ per_second }) => significant(per_second) },
  { head: 'Failed', isNumber: true, cell: ({ failed }) => whole(failed) },
  { head: '429', isNumber: true, cell: ({ limited }) => whole(limited) },
  quantile('p50', ({ latency_ms }) => latency_ms?.p50),
  quantile('p90', ({ latency_ms }) => latency_ms?.p90),
  quantile('p99', ({ latency_ms }) => latency_ms?.p99),
  quantile('p99.9', ({ latency_ms }) => latency_ms?.p999),
  quantile('max', ({ latency_ms }) => latency_ms?.max),
  quantile('p99 from sending', ({ response_ms }) => response_ms?.p99),
])}
<p class="note">The rate counts what was answered while callers came. Latency runs from when a caller wanted the answer: its arrival or, for the later steps of a journey, the answer before. “From sending” begins when a connection took the request; where it is much less, callers waited for a connection or for the harness. Failures and refusals are left out, timeouts are in. <code>poll_render</code> is get_render by callers who wait for the end.</p>
<div class="grid">${latencyCharts(
    series,
    measured.map(({ operation }) => operation),
  )}</div>`;
}

export function renderSection(renders: RenderReport, series: LoadTestReport['series']): Markup {
  const { ended, error_codes, start_from, queue_to_start_ms, end_to_end_ms } = renders;
  const rows = [
    { what: 'From queue to start', figures: queue_to_start_ms },
    { what: 'From arrival to result', figures: end_to_end_ms },
  ];
  const polled =
    start_from.poll === 0
      ? ''
      : ` of ${start_from.poll} renders it is the update that a poll saw first, which is later than the truth by up to a poll interval.`;
  return markup`<h2>Renders</h2>
<div class="grid">${backlogChart(series)}${cumulativeChart('How long renders take', 'share of renders', [
    { label: 'from queue to start', distribution: renders.queue_to_start_distribution },
    { label: 'from arrival to result', distribution: renders.end_to_end_distribution },
  ])}</div>
<h3>Times</h3>
${table(rows, [
  { head: '', cell: ({ what }) => what },
  { head: 'Renders', isNumber: true, cell: ({ figures }) => whole(figures?.count ?? 0) },
  { head: 'p50', isNumber: true, cell: ({ figures }) => milliseconds(figures?.p50) },
  { head: 'p90', isNumber: true, cell: ({ figures }) => milliseconds(figures?.p90) },
  { head: 'p99', isNumber: true, cell: ({ figures }) => milliseconds(figures?.p99) },
  { head: 'max', isNumber: true, cell: ({ figures }) => milliseconds(figures?.max) },
])}
<p class="note">Accepted: ${whole(renders.accepted)} (${words(ended)}). ${
    Object.keys(error_codes).length === 0 ? '' : `Errors: ${words(error_codes)}. `
  }Output: ${significant(renders.output_seconds)} s of video${
    renders.work_per_output_second === null
      ? ''
      : `, ${significant(renders.work_per_output_second)} s of work for each second of it`
  }. The start of ${whole(start_from.record)} renders is worked out from the finished record: completed_at less the engine’s processing_ms, which runs from the worker’s claim;${
    polled === '' ? ' no other way was needed.' : polled
  }</p>`;
}

export function webhookSection(
  webhooks: WebhookReport,
  { receiver_shares: shares, slow_receiver_seconds: slowSeconds }: LoadTestReport['config'],
): Markup {
  const rows = Object.entries(webhooks.by_receiver);
  const lines = rows.map(([behaviour, { first_attempt_lag_distribution: distribution }]) => ({
    label: `${behaviour} receivers`,
    distribution,
  }));
  return markup`<h2>Webhooks</h2>
${cumulativeChart('From the event to its first attempt', 'share of events', lines, true)}
<h3>By receiver</h3>
${table(rows, [
  { head: 'Receiver', cell: ([behaviour]) => behaviour },
  { head: 'Share asked for', isNumber: true, cell: ([behaviour]) => String(shares[behaviour] ?? 0) },
  { head: 'Events', isNumber: true, cell: ([, { events }]) => whole(events) },
  { head: 'Acknowledged', isNumber: true, cell: ([, { acknowledged }]) => whole(acknowledged) },
  { head: 'p50', isNumber: true, cell: ([, own]) => milliseconds(own.first_attempt_lag_ms?.p50) },
  { head: 'p90', isNumber: true, cell: ([, own]) => milliseconds(own.first_attempt_lag_ms?.p90) },
  { head: 'p99', isNumber: true, cell: ([, own]) => milliseconds(own.first_attempt_lag_ms?.p99) },
  { head: 'max', isNumber: true, cell: ([, own]) => milliseconds(own.first_attempt_lag_ms?.max) },
])}<p class="note">${whole(webhooks.attempts)} attempts for ${whole(webhooks.events)} events; ${whole(
    webhooks.redeliveries,
  )} of them repeated one that had been acknowledged. The lag runs from the event’s created_at, which is the moment of the terminal state, to the arrival of its first attempt. A slow receiver takes ${slowSeconds} s to answer, a hanging one leaves its first attempt unanswered, a failing one refuses it.</p>`;
}

function words(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${whole(count)} ${name}`)
    .join(', ');
}
