import { cpus, release, totalmem, type } from 'node:os';
import path from 'node:path';
import { type ArrivalPlan, batchOf, offeredRate } from '../callers/open-loop';
import { type LoadTestConfig } from '../config';
import { rounded } from '../track/histogram';
import { type TrackedRender } from '../track/ledger';
import { type OperationFigures, type StreamFigures } from '../track/recorder';
import { isOpenAt, renderFigures, type RunResult, seriesOf, webhookFigures } from './figures';
import {
  type GeneratorFigures,
  type LoadTestReport,
  type MachineFacts,
  type OperationReport,
  type ReportedConfig,
  type StreamReport,
} from './report';
import { type ReportFacts, summarize } from './summary';
import { type Backlog, verdictOf } from './verdict';

interface MeasuredStream {
  readonly name: string;
  readonly plan: ArrivalPlan;
  readonly figures: StreamFigures;
}

export function buildReport(run: RunResult): LoadTestReport {
  const { config, target, recorder, checks } = run;
  const measuredSeconds = (run.arrivalsEndAt - run.startAt) / 1000 - config.warmUp;
  // Streams that arrived only in the warm-up have nothing to report.
  const measured = config.streams.flatMap(({ name, plan }): MeasuredStream[] => {
    const figures = recorder.streams.get(name);
    return figures === undefined || figures.arrivals === 0 ? [] : [{ name, plan, figures }];
  });
  const streams = measured.map(({ name, plan, figures }) =>
    streamReport(name, figures, offeredRate(plan, measuredSeconds), measuredSeconds),
  );
  const generator = generatorFigures(run);
  // Renders that callers cancel themselves load only the control plane.
  const rendered = run.renders.filter(({ purpose }) => purpose === 'result');
  const series = seriesOf(run, rendered);
  const open = backlogOfRenders(run, rendered);
  const renders = renderFigures(rendered.filter(isMeasured), open);
  const measuredIds = new Set(run.renders.filter(isMeasured).map(({ id }) => id));
  const events = [...(target.webhooks?.log.events.values() ?? [])];
  const webhooks =
    target.webhooks &&
    webhookFigures(
      events.filter(({ recordId }) => measuredIds.has(recordId)),
      run.clockOffsetMs,
    );
  const operations = [...recorder.operations]
    .filter(([, { requests }]) => requests > 0)
    .map(([operation, figures]) => operationReport(operation, figures, measuredSeconds));
  const verdict = verdictOf({
    checks,
    generator,
    streams,
    backlogs: [...measured.map(backlogOfCallers), ...(renders === null ? [] : [open])],
    webhooks,
  });
  const facts: ReportFacts = {
    verdict,
    started_at: run.startedAt.toISOString(),
    finished_at: new Date().toISOString(),
    scenario: config.scenario,
    target: {
      base_url: target.baseUrl,
      description: target.description,
      customers: target.customers.length,
      clock_offset_ms: rounded(run.clockOffsetMs),
    },
    config: reportedConfig(config),
    machine: machineFacts(target.isLocal),
    generator,
    streams,
    operations,
    errors: recorder.errors().map(({ operation, outcome, count }) => ({ operation, ...outcome, count })),
    renders,
    webhooks,
    series,
    checks: [...checks],
  };
  return { schema_version: 4, summary: summarize(facts), ...facts };
}

const isMeasured = ({ isWarmUp }: TrackedRender): boolean => !isWarmUp;

function backlogOfCallers({ name, plan, figures }: MeasuredStream): Backlog {
  return {
    of: `callers of ${name}`,
    atHalf: figures.underWayAtHalf,
    atEnd: figures.underWayAtEnd,
    arrivedBetween: figures.sentSinceHalf,
    batch: batchOf(plan),
  };
}

function backlogOfRenders(run: RunResult, rendered: readonly TrackedRender[]): Backlog {
  const openAt = (at: number): number =>
    rendered.filter((render) => isOpenAt(render, at, run.clockOffsetMs)).length;
  return {
    of: 'renders',
    atHalf: openAt(run.halfAt),
    atEnd: openAt(run.arrivalsEndAt),
    arrivedBetween: rendered.filter(({ acceptedAt }) => acceptedAt > run.halfAt).length,
    batch: 1,
  };
}

function streamReport(name: string, figures: StreamFigures, offered: number, seconds: number): StreamReport {
  const { arrivals, notSent, completed, completedInTime, failed, latency } = figures;
  return {
    name,
    offered_per_second: rounded(offered),
    arrivals,
    not_sent: notSent,
    completed,
    failed,
    completed_per_second: rounded(completedInTime / seconds),
    under_way_at_half: figures.underWayAtHalf,
    under_way_at_end: figures.underWayAtEnd,
    latency_ms: latency.quantiles(),
  };
}

function operationReport(operation: string, figures: OperationFigures, seconds: number): OperationReport {
  const { latency, response, answeredInTime, ...counts } = figures;
  return {
    operation,
    ...counts,
    per_second: rounded(answeredInTime / seconds),
    latency_ms: latency.quantiles(),
    response_ms: response.quantiles(),
    latency_distribution: latency.distribution(),
  };
}

function generatorFigures({ recorder, inFlightPeak, stoppedEarly }: RunResult): GeneratorFigures {
  return {
    lag_ms: recorder.lag.quantiles(),
    peak_rss_mib: rounded(process.resourceUsage().maxRSS / 1024),
    in_flight_peak: inFlightPeak,
    stopped_early: stoppedEarly,
  };
}

/** The configuration without keys and secrets, because reports are shared. */
function reportedConfig(config: LoadTestConfig): ReportedConfig {
  return {
    duration_seconds: config.duration,
    warm_up_seconds: config.warmUp,
    drain_seconds: config.drain,
    seed: config.seed,
    connections: config.connections,
    max_in_flight: config.maxInFlight,
    timeout_seconds: config.timeout,
    poll_interval_seconds: config.pollInterval,
    polls_per_second: config.pollRate,
    engines: config.engines.map((set) => set.join('+')),
    sync_modes: [...config.syncModes],
    media: config.media,
    video: path.basename(config.video),
    audio: path.basename(config.audio),
    receiver_shares: { ...config.receivers },
    slow_receiver_seconds: config.slowSeconds,
    max_failure_ratio: config.maxFailures,
    streams: config.streams.map(({ name, plan, mix, announces }) => ({
      name,
      arrivals: plan.kind,
      rate_per_second: rounded(offeredRate(plan, config.duration)),
      burst_size: batchOf(plan),
      mix: { ...mix },
      announces,
    })),
  };
}

/** The machine that the figures were measured on. */
function machineFacts(sharedWithService: boolean): MachineFacts {
  return {
    shared_with_service: sharedWithService,
    os: `${type()} ${release()}`,
    node: process.version,
    cpu: cpus()[0]?.model ?? null,
    cpus: cpus().length,
    memory_gib: Number((totalmem() / 2 ** 30).toFixed(1)),
  };
}
