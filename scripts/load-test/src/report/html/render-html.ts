import { milliseconds, percent, perSecond, significant } from '../format';
import { worstOf } from '../quantiles';
import { type LoadTestReport, type Quantiles } from '../report';
import { checkSection, errorSection, setUpSection } from './ending-sections';
import { Markup, markup } from './markup';
import { latencySection, loadSection, renderSection, webhookSection } from './result-sections';
import { STYLE } from './style';

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
