import { worstOf } from '../track/histogram';
import { arrivalsChart, backlogChart, cumulativeChart, latencyCharts, percentileChart } from './charts';
import { Markup, markup, STYLE, table } from './markup';
import {
  type CheckResult,
  type ErrorReport,
  type LoadTestReport,
  type Quantiles,
  type RenderReport,
  type WebhookReport,
} from './report';
import { milliseconds, percent, perSecond, significant, whole } from './summary';

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

const QUANTILES = ['p50', 'p90', 'p99', 'p99.9', 'max'];

function quantileCells(figures: Quantiles | null): string[] {
  return [figures?.p50, figures?.p90, figures?.p99, figures?.p999, figures?.max].map(milliseconds);
}

function loadSection({ streams, series }: LoadTestReport): Markup {
  return markup`<h2>Offered and carried</h2>
${arrivalsChart(series)}
<h3>By kind of caller</h3>
${table(
  ['Callers', 'Offered', 'Served', 'Came', 'Not served', 'Not sent', 'Under way at the end', ...QUANTILES],
  streams.map((stream) => [
    stream.name,
    perSecond(stream.offered_per_second),
    perSecond(stream.completed_per_second),
    whole(stream.arrivals),
    whole(stream.failed),
    whole(stream.not_sent),
    whole(stream.under_way_at_end),
    ...quantileCells(stream.latency_ms),
  ]),
)}<p class="note">A caller arrives at a moment that was settled before the run (Poisson, seeded), whether or not earlier callers have been answered; how many came is chance around the rate that was offered. A caller is served when all that it came for was answered as it should be; its time runs from its arrival. The rate counts those served while callers came; who was under way at the end has been waited for. A caller that wants a render is served when that is accepted.</p>`;
}

/** More small charts would hide the important ones. */
const MAX_LATENCY_CHARTS = 6;

function latencySection({ operations, series }: LoadTestReport): Markup {
  const byRequests = [...operations].sort((a, b) => b.requests - a.requests);
  const measured = byRequests.filter(({ latency_ms }) => latency_ms !== null).slice(0, MAX_LATENCY_CHARTS);
  return markup`<h2>Latency</h2>
${percentileChart(measured)}
<h3>By operation</h3>
${table(
  ['Operation', 'Requests', 'Per second', 'Failed', '429', ...QUANTILES, 'p99 from sending'],
  byRequests.map(({ operation, requests, per_second, failed, limited, latency_ms, response_ms }) => [
    markup`<code>${operation}</code>`,
    whole(requests),
    // One unit for the whole column, so that it can be compared at a glance.
    significant(per_second),
    whole(failed),
    whole(limited),
    ...quantileCells(latency_ms),
    milliseconds(response_ms?.p99),
  ]),
)}
<p class="note">The rate counts what was answered while callers came. Latency runs from when a caller wanted the answer: its arrival or, for the later steps of a journey, the answer before. “From sending” begins when a connection took the request; where it is much less, callers waited for a connection or for the harness. Failures and refusals are left out, timeouts are in. <code>poll_render</code> is get_render by callers who wait for the end.</p>
<div class="grid">${latencyCharts(
    series,
    measured.map(({ operation }) => operation),
  )}</div>`;
}

function renderSection(renders: RenderReport, series: LoadTestReport['series']): Markup {
  const { ended, error_codes, start_from, queue_to_start_ms, end_to_end_ms } = renders;
  return markup`<h2>Renders</h2>
<div class="grid">${backlogChart(series)}${cumulativeChart('How long renders take', 'share of renders', [
    { label: 'from queue to start', distribution: renders.queue_to_start_distribution },
    { label: 'from arrival to result', distribution: renders.end_to_end_distribution },
  ])}</div>
<h3>Times</h3>
${table(
  ['', 'Renders', ...QUANTILES],
  [
    ['From queue to start', whole(queue_to_start_ms?.count ?? 0), ...quantileCells(queue_to_start_ms)],
    ['From arrival to result', whole(end_to_end_ms?.count ?? 0), ...quantileCells(end_to_end_ms)],
  ],
)}
<p class="note">Accepted: ${whole(renders.accepted)} (${words(ended)}). ${
    Object.keys(error_codes).length === 0 ? '' : `Errors: ${words(error_codes)}. `
  }Output: ${significant(renders.output_seconds)} s of video${
    renders.work_per_output_second === null
      ? ''
      : `, ${significant(renders.work_per_output_second)} s of work for each second of it`
  }. A start is worked out from the finished record (completed_at less the engine’s processing_ms)${
    start_from.poll === 0
      ? ''
      : `; that of ${whole(start_from.poll)} renders is the update that a poll saw first, late by up to a poll interval`
  }.</p>`;
}

function webhookSection(
  { events, attempts, redeliveries, by_receiver }: WebhookReport,
  { receiver_shares: shares, slow_receiver_seconds: slowSeconds }: LoadTestReport['config'],
): Markup {
  const rows = Object.entries(by_receiver);
  const lines = rows.map(([behavior, { first_attempt_lag_distribution: distribution }]) => ({
    label: `${behavior} receivers`,
    distribution,
  }));
  return markup`<h2>Webhooks</h2>
${cumulativeChart('From the event to its first attempt', 'share of events', lines, true)}
<h3>By receiver</h3>
${table(
  ['Receiver', 'Share asked for', 'Events', 'Acknowledged', ...QUANTILES],
  rows.map(([behavior, own]) => [
    behavior,
    String(shares[behavior] ?? 0),
    whole(own.events),
    whole(own.acknowledged),
    ...quantileCells(own.first_attempt_lag_ms),
  ]),
)}<p class="note">${whole(attempts)} attempts for ${whole(events)} events; ${whole(redeliveries)} of them repeated one that had been acknowledged. The lag runs from the event’s created_at, which is the moment of the terminal state, to the arrival of its first attempt. A slow receiver takes ${slowSeconds} s to answer, a hanging one leaves its first attempt unanswered, a failing one refuses it.</p>`;
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
${table(
  ['Operation', 'Class', 'Status', 'Code', 'Retryable', 'Count'],
  errors.map((error) => [
    markup`<code>${error.operation}</code>`,
    CLASSES[error.class] ?? error.class,
    String(error.status ?? '–'),
    markup`<code>${error.code ?? '–'}</code>`,
    error.retryable === null ? '–' : error.retryable ? 'yes' : 'no',
    bar(error),
  ]),
  ERROR_TEXTS,
)}`;
}

/** All columns: the bars begin at the left. */
const ERROR_TEXTS = 6;

const CLASSES: Readonly<Record<string, string>> = {
  expected: 'expected here',
  limited: 'refused by a limit',
  refused: 'refused',
  unavailable: 'unavailable',
  transport: 'no answer',
  out_of_contract: 'not in the contract',
};

function checkSection({ checks }: LoadTestReport): Markup {
  const told = ({ title, note, examples }: CheckResult): Markup =>
    markup`${title}${note === null ? null : markup`<div class="note">${note}</div>`}${
      examples.length === 0
        ? null
        : markup`<ul class="examples">${examples.map((example) => markup`<li><code>${example}</code></li>`)}</ul>`
    }`;
  return markup`<h2>Checks</h2>
${table(
  ['Result', 'What must hold', 'Examined', 'Failures'],
  checks.map((check) => {
    const { state, examined, failures } = check;
    const isSkipped = state === 'skipped';
    return [
      markup`<span class="state ${state}">${SIGNS[state]} ${state}</span>`,
      told(check),
      isSkipped ? '–' : whole(examined),
      isSkipped ? '–' : whole(failures),
    ];
  }),
  2,
)}`;
}

const SIGNS = { passed: '✓', failed: '✗', skipped: '–' } as const;

/** Everything that the report says about the run's circumstances, by the names of `report.json`. */
function setUpSection({ target, machine, generator, config }: LoadTestReport): Markup {
  const facts = Object.entries({ ...target, ...machine, ...generator, ...config });
  return markup`<h2>How it was measured</h2>
<dl class="facts">${facts.map(
    ([name, value]) => markup`<dt>${name.replaceAll('_', ' ')}</dt><dd>${inWords(value)}</dd>`,
  )}</dl>`;
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join('; ');
  if (value === null) return '–';
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')} ${inWords(inner)}`)
    .join(', ');
}
