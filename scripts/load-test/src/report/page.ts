import { worstOf } from '../track/histogram';
import { arrivalsChart, backlogChart, cumulativeChart, latencyCharts, percentileChart } from './charts';
import { Markup, markup, STYLE, table } from './markup';
import {
  type ErrorReport,
  type LoadTestReport,
  type OperationReport,
  type Quantiles,
  type RenderReport,
  type WebhookReport,
} from './report';
import { clockTime, milliseconds, percent, perSecond, significant, whole } from './summary';

const OUTCOMES: Readonly<Record<LoadTestReport['verdict']['outcome'], string>> = {
  carried: 'carried',
  service_saturated: 'service saturated',
  generator_saturated: 'harness saturated',
  failed: 'checks failed',
};

/** The report as a self-contained page: no script, no network. */
export function renderHtml(report: LoadTestReport): string {
  const { scenario, summary, verdict, started_at, target, renders, webhooks, series, config } = report;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Load test: ${scenario}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body><main>
<header>
<h1>Load test: ${scenario}<span class="badge ${verdict.outcome}">${OUTCOMES[verdict.outcome]}</span></h1>
<div class="meta">${target.description} · ${target.base_url} · ${started_at.replace('T', ' ').slice(0, 19)} UTC</div>
<p class="summary">${summary}</p>
${verdict.reasons.length === 0 ? null : markup`<ul class="reasons">${verdict.reasons.map((reason) => markup`<li>${reason}</li>`)}</ul>`}
</header>
${tiles(report)}
${loadSection(report)}
${renders === null ? null : renderSection(renders, series)}
${webhooks === null || webhooks.events === 0 ? null : webhookSection(webhooks, config)}
${latencySection(report)}
${errorSection(report)}
${checkSection(report)}
${setUpSection(report)}
</main></body>
</html>
`;
  return page.text;
}

function tiles({ streams, operations, renders, webhooks, checks }: LoadTestReport): Markup {
  const sum = (of: (stream: LoadTestReport['streams'][number]) => number): number =>
    streams.reduce((total, stream) => total + of(stream), 0);
  const requests = operations.reduce((total, operation) => total + operation.requests, 0);
  const failed = operations.reduce((total, operation) => total + operation.failed, 0);
  const failedChecks = checks.filter(({ state }) => state === 'failed').length;
  const busiest = [...operations]
    .sort((a, b) => b.requests - a.requests)
    .find(({ operation }) => operation !== 'poll_render');
  return markup`<div class="tiles">
${tile(perSecond(sum(({ offered_per_second }) => offered_per_second)), 'callers offered')}
${tile(perSecond(sum(({ completed_per_second }) => completed_per_second)), 'callers served')}
${busiest === undefined ? null : worstTile(busiest.latency_ms, busiest.operation)}
${renders?.completed_per_hour == null ? null : tile(significant(renders.completed_per_hour), 'renders per hour')}
${renders?.queue_to_start_ms == null ? null : tile(milliseconds(renders.queue_to_start_ms.p50), 'queue to start, p50')}
${renders?.end_to_end_ms == null ? null : tile(milliseconds(renders.end_to_end_ms.p50), 'arrival to result, p50')}
${webhooks?.first_attempt_lag_ms == null ? null : worstTile(webhooks.first_attempt_lag_ms, 'webhook lag')}
${tile(percent(requests === 0 ? 0 : failed / requests), 'of requests failed', failed > 0)}
${tile(
  failedChecks === 0 ? 'all' : `${failedChecks} failed`,
  failedChecks === 0
    ? `of ${checks.filter(({ state }) => state === 'passed').length} checks passed`
    : 'checks',
  failedChecks > 0,
)}
</div>`;
}

function tile(figure: string, label: string, isBad = false): Markup {
  return markup`<div class="${isBad ? 'tile bad' : 'tile'}"><b>${figure}</b><span>${label}</span></div>`;
}

function worstTile(figures: Quantiles | null, of: string): Markup | null {
  if (figures === null) return null;
  const { name, ms } = worstOf(figures);
  return tile(milliseconds(ms), `${of}, ${name}`);
}

/** More small charts would hide the important ones. */
const MAX_LATENCY_CHARTS = 6;

function loadSection({ streams, series }: LoadTestReport): Markup {
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

function latencySection({ operations, series }: LoadTestReport): Markup {
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

function renderSection(renders: RenderReport, series: LoadTestReport['series']): Markup {
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

function webhookSection(
  webhooks: WebhookReport,
  { receiver_shares: shares, slow_receiver_seconds: slowSeconds }: LoadTestReport['config'],
): Markup {
  const rows = Object.entries(webhooks.by_receiver);
  const lines = rows.map(([behavior, { first_attempt_lag_distribution: distribution }]) => ({
    label: `${behavior} receivers`,
    distribution,
  }));
  return markup`<h2>Webhooks</h2>
${cumulativeChart('From the event to its first attempt', 'share of events', lines, true)}
<h3>By receiver</h3>
${table(rows, [
  { head: 'Receiver', cell: ([behavior]) => behavior },
  { head: 'Share asked for', isNumber: true, cell: ([behavior]) => String(shares[behavior] ?? 0) },
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

const BAR_WIDTH = 160;

function errorSection({ errors }: LoadTestReport): Markup {
  if (errors.length === 0)
    return markup`<h2>Errors and refusals</h2><p class="note">Every request that was measured was answered with success.</p>`;
  const most = Math.max(...errors.map(({ count }) => count));
  const bar = ({ count, class: kind }: ErrorReport): Markup =>
    markup`<span class="bar ${kind}" style="width:${Math.max(2, Math.round((count / most) * BAR_WIDTH))}px"></span>${whole(count)}`;
  return markup`<h2>Errors and refusals</h2>
${table(errors, [
  { head: 'Operation', cell: ({ operation }) => markup`<code>${operation}</code>` },
  { head: 'Class', cell: (error) => CLASSES[error.class] ?? error.class },
  { head: 'Status', cell: ({ status }) => (status === null ? '–' : String(status)) },
  { head: 'Code', cell: ({ code }) => markup`<code>${code ?? '–'}</code>` },
  { head: 'Retryable', cell: ({ retryable }) => (retryable === null ? '–' : retryable ? 'yes' : 'no') },
  { head: 'Count', cell: bar },
])}`;
}

const CLASSES: Readonly<Record<string, string>> = {
  expected: 'expected here',
  limited: 'refused by a limit',
  refused: 'refused',
  unavailable: 'unavailable',
  transport: 'no answer',
  out_of_contract: 'not in the contract',
};

function checkSection({ checks }: LoadTestReport): Markup {
  return markup`<h2>Checks</h2>
${table(checks, [
  {
    head: 'Result',
    cell: ({ state }) => markup`<span class="state ${state}">${SIGNS[state]} ${state}</span>`,
  },
  {
    head: 'What must hold',
    cell: ({ title, note, examples }) =>
      markup`${title}${note === null ? null : markup`<div class="note">${note}</div>`}${
        examples.length === 0
          ? null
          : markup`<ul class="examples">${examples.map((example) => markup`<li><code>${example}</code></li>`)}</ul>`
      }`,
  },
  {
    head: 'Examined',
    isNumber: true,
    cell: ({ state, examined }) => (state === 'skipped' ? '–' : whole(examined)),
  },
  {
    head: 'Failures',
    isNumber: true,
    cell: ({ state, failures }) => (state === 'skipped' ? '–' : whole(failures)),
  },
])}`;
}

const SIGNS = { passed: '✓', failed: '✗', skipped: '–' } as const;

function setUpSection({ config, machine, generator, target }: LoadTestReport): Markup {
  const { lag_ms } = generator;
  const facts: [string, string][] = [
    ['Target', `${target.base_url}: ${target.description}, ${target.customers} customers`],
    [
      'Machine',
      `${machine.cpus} × ${machine.cpu ?? 'unknown processor'}, ${machine.memory_gib} GiB, ${machine.os}, Node ${machine.node}; ${
        machine.shared_with_service ? 'harness and service share it' : 'of the harness alone'
      }`,
    ],
    [
      'Lateness of the harness',
      lag_ms === null
        ? 'nothing was sent'
        : `p50 ${milliseconds(lag_ms.p50)}, p99 ${milliseconds(lag_ms.p99)}, max ${milliseconds(lag_ms.max)}; it is part of every latency`,
    ],
    [
      'Memory of the harness',
      `${significant(generator.peak_rss_mib)} MiB at most; ${whole(generator.in_flight_peak)} callers under way at most, of ${whole(config.max_in_flight)} that might be`,
    ],
    ...config.streams.map(
      ({ name, arrivals, rate_per_second, burst_size, mix, announces }): [string, string] => [
        `Callers of ${name}`,
        `${
          arrivals === 'at-once'
            ? `${burst_size} at once`
            : `${perSecond(rate_per_second)}${burst_size > 1 ? ` in bursts of ${burst_size}` : ''}`
        }: ${Object.entries(mix)
          .map(([journey, weight]) => `${journey} ${weight}`)
          .join(', ')}${announces ? '; announced by webhook' : ''}`,
      ],
    ),
    [
      'Time',
      `warm-up ${clockTime(config.warm_up_seconds)}, measured ${clockTime(config.duration_seconds)}, drain at most ${clockTime(config.drain_seconds)}${generator.stopped_early ? '; stopped early by hand' : ''}`,
    ],
    [
      'Renders',
      `${config.engines.join(' or ')}, ${config.sync_modes.join(' or ')}; ${config.video} and ${config.audio}, uploaded ${config.media === 'once' ? 'before the run' : 'by each render'}`,
    ],
    [
      'Requests',
      `${config.connections} connections to each origin, ${config.timeout_seconds} s of patience; renders polled every ${config.poll_interval_seconds} s, at most ${perSecond(config.polls_per_second)}`,
    ],
    ['Tolerated failures', percent(config.max_failure_ratio)],
    ['Seed', String(config.seed)],
  ];
  return markup`<h2>How it was measured</h2>
<dl class="facts">${facts.map(([name, text]) => markup`<dt>${name}</dt><dd>${text}</dd>`)}</dl>`;
}
