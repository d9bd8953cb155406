import path from 'node:path';
import { offeredRate } from '../arrivals/arrival-schedule';
import { type LoadTestConfig } from '../config';
import { type Histogram } from '../measure/histogram';
import { type OperationFigures, type StreamFigures } from '../measure/recorder';
import { machineFacts } from './machine-facts';
import { distributionOf, quantilesOf, rounded } from './quantiles';
import { renderFigures } from './render-figures';
import {
  type GeneratorFigures,
  type LoadTestReport,
  type OperationReport,
  type ReportedConfig,
  type StreamReport,
} from './report';
import { isOpenAt, type RunResult } from './run-result';
import { seriesOf } from './series';
import { summarise } from './summary';
import { verdictOf } from './verdict';
import { webhookFigures } from './webhook-figures';

export function buildReport(run: RunResult): LoadTestReport {
  const { config, target, recorder, checks } = run;
  const measuredSeconds = (run.arrivalsEndAt - run.startAt) / 1000 - config.warmUpSeconds;
  const streams = config.streams.flatMap(({ name, plan }) => {
    const figures = recorder.streams.get(name);
    const offered = offeredRate(plan, measuredSeconds);
    return figures === undefined ? [] : [streamReport(name, figures, offered, measuredSeconds)];
  });
  const generator = generatorFigures(run);
  // What callers cancel themselves is work of the control plane only.
  const rendered = run.renders.filter(({ purpose }) => purpose === 'result');
  const series = seriesOf(run, rendered);
  const openAt = (at: number): number => rendered.filter((render) => isOpenAt(run, render, at)).length;
  const halfAt = run.startAt + (run.arrivalsEndAt - run.startAt) / 2;
  const open = { atHalf: openAt(halfAt), atEnd: openAt(run.arrivalsEndAt) };
  const renders = renderFigures(rendered, open);
  const webhooks =
    target.webhooks && webhookFigures([...target.webhooks.log.events.values()], run.clockOffsetMs);
  const operations = [...recorder.operations].map(([operation, figures]) =>
    operationReport(operation, figures, measuredSeconds),
  );
  const verdict = verdictOf({
    checks,
    generator,
    streams,
    renders,
    renderArrivalsInSecondHalf: rendered.filter(({ acceptedAt }) => acceptedAt >= halfAt).length,
  });
  const facts = { verdict, streams, operations, renders, webhooks };
  return {
    schema_version: 2,
    summary: summarise({ ...facts, machine: machineFacts(target.isLocal), target: target.description }),
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
    errors: recorder.errors().map(({ operation, outcome, count }) => ({ operation, ...outcome, count })),
    series,
    checks: [...checks],
    ...facts,
  };
}

function streamReport(
  name: string,
  { arrivals, notSent, completed, failed, latency }: StreamFigures,
  offered: number,
  seconds: number,
): StreamReport {
  return {
    name,
    offered_per_second: rounded(offered),
    arrivals,
    not_sent: notSent,
    completed,
    failed,
    completed_per_second: rounded(completed / seconds),
    latency_ms: quantilesOf(latency),
  };
}

function operationReport(operation: string, figures: OperationFigures, seconds: number): OperationReport {
  const { latency, response, requests, succeeded, expected, limited, failed } = figures;
  return {
    operation,
    requests,
    per_second: rounded(requests / seconds),
    succeeded,
    expected,
    limited,
    failed,
    latency_ms: quantilesOf(latency),
    response_ms: quantilesOf(response),
    latency_distribution: distributionOf(latency),
  };
}

function generatorFigures({ recorder, usage, inFlightPeak, stoppedEarly }: RunResult): GeneratorFigures {
  const lags = [...recorder.streams.values()].map(({ lag }) => lag);
  // The busiest stream is the one that tells of the generator.
  const busiest = lags.reduce<Histogram | null>(
    (most, lag) => (most === null || lag.count > most.count ? lag : most),
    null,
  );
  return {
    lag_ms: busiest && quantilesOf(busiest),
    cpu_cores: rounded(usage.ownCores),
    machine_cpu_cores: usage.machineCores === null ? null : rounded(usage.machineCores),
    peak_rss_mib: rounded(process.resourceUsage().maxRSS / 1024),
    in_flight_peak: inFlightPeak,
    stopped_early: stoppedEarly,
  };
}

/** Without keys and secrets: a report is passed around. */
function reportedConfig(config: LoadTestConfig): ReportedConfig {
  return {
    duration_seconds: config.durationSeconds,
    warm_up_seconds: config.warmUpSeconds,
    drain_seconds: config.drainSeconds,
    seed: config.seed,
    connections: config.connections,
    max_in_flight: config.maxInFlight,
    timeout_seconds: config.timeoutSeconds,
    poll_interval_seconds: config.pollIntervalSeconds,
    polls_per_second: config.pollsPerSecond,
    engines: config.engines.map((set) => set.join('+')),
    sync_modes: [...config.syncModes],
    media: config.media,
    video: path.basename(config.videoFile),
    audio: path.basename(config.audioFile),
    receiver_shares: { ...config.receiverShares },
    slow_receiver_seconds: config.slowReceiverSeconds,
    max_failure_ratio: config.maxFailureRatio,
    streams: config.streams.map(({ name, plan, mix, announces }) => ({
      name,
      arrivals: plan.kind,
      rate_per_second: rounded(offeredRate(plan, config.durationSeconds)),
      burst_size: plan.kind === 'poisson' ? plan.burstSize : plan.count,
      mix: { ...mix },
      announces,
    })),
  };
}
