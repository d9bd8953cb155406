/**
 * `report.json`. Field names include the units of times; shares are from 0 to 1; null means not measured. The warm-up
 * counts in `series` and `checks`, in throughput during the measured time, and in the numbers in progress or open.
 */
export interface LoadTestReport {
  /** Raised when a field changes its meaning or is removed; new fields do not raise it. */
  schema_version: 4;
  /** One sentence: load offered, load carried, latency. */
  summary: string;
  verdict: Verdict;
  started_at: string;
  finished_at: string;
  scenario: string;
  target: { base_url: string; description: string; customers: number; clock_offset_ms: number | null };
  config: ReportedConfig;
  machine: MachineFacts;
  generator: GeneratorFigures;
  streams: StreamReport[];
  operations: OperationReport[];
  errors: ErrorReport[];
  renders: RenderReport | null;
  webhooks: WebhookReport | null;
  series: SeriesReport;
  checks: CheckResult[];
}

export interface Verdict {
  /**
   * `carried`: the service kept up with the offered load. `service_saturated`: it did not, or its webhooks
   * were later than its objective. `generator_saturated`: the
   * harness itself was late or reached its limit, so nothing is known about the service at this rate. `failed`: a check
   * failed, and figures of a service that does not work correctly mean nothing.
   */
  outcome: 'carried' | 'service_saturated' | 'generator_saturated' | 'failed';
  reasons: string[];
}

export interface ReportedConfig {
  duration_seconds: number;
  warm_up_seconds: number;
  drain_seconds: number;
  seed: number;
  connections: number;
  max_in_flight: number;
  timeout_seconds: number;
  poll_interval_seconds: number;
  polls_per_second: number;
  engines: string[];
  sync_modes: string[];
  media: string;
  video: string;
  audio: string;
  receiver_shares: Record<string, number>;
  slow_receiver_seconds: number;
  max_failure_ratio: number;
  streams: {
    name: string;
    arrivals: string;
    rate_per_second: number;
    burst_size: number;
    mix: Record<string, number>;
    announces: boolean;
  }[];
}

export interface MachineFacts {
  /** Whether the harness's machine also ran the service, as with a local stack. */
  shared_with_service: boolean;
  os: string;
  node: string;
  cpu: string | null;
  cpus: number;
  memory_gib: number;
}

export interface GeneratorFigures {
  /** How late arrivals were sent because the harness was busy. Part of every latency. */
  lag_ms: Quantiles | null;
  peak_rss_mib: number;
  in_flight_peak: number;
  stopped_early: boolean;
}

export interface Quantiles {
  count: number;
  mean: number;
  p50: number;
  /** Null when too few values lie beyond it: p90 of fewer than 10, p99 of fewer than 100, p999 of fewer than 1000. */
  p90: number | null;
  p99: number | null;
  p999: number | null;
  max: number;
}

/** For plots: `at[i]` is the value that a share `share[i]` of all does not exceed. */
export interface Distribution {
  share: number[];
  at: number[];
}

export interface StreamReport {
  name: string;
  offered_per_second: number;
  arrivals: number;
  /** Arrivals that were dropped because the maximum number was in progress. */
  not_sent: number;
  /** Completed arrivals, whenever they completed. */
  completed: number;
  failed: number;
  /** Completed during the measured time. */
  completed_per_second: number;
  /** In progress at the middle of the measured time and when the arrivals ended, including callers from the warm-up. */
  under_way_at_half: number;
  under_way_at_end: number;
  /** From a caller's arrival to the end of its journey. */
  latency_ms: Quantiles | null;
}

export interface OperationReport {
  operation: string;
  requests: number;
  /** Answered during the measured time. */
  per_second: number;
  succeeded: number;
  /** Refusals that the scenario provokes and counts as correct. */
  expected: number;
  limited: number;
  failed: number;
  /** From when the caller wanted it: arrival, or the previous response in the same journey. Successes and timeouts. */
  latency_ms: Quantiles | null;
  /** From when a connection took it: what a closed loop would have measured. */
  response_ms: Quantiles | null;
  latency_distribution: Distribution;
}

export interface ErrorReport {
  operation: string;
  class: string;
  status: number | null;
  code: string | null;
  retryable: boolean | null;
  count: number;
}

export interface CheckResult {
  readonly id: string;
  /** The guarantee that holds when the check passes. */
  readonly title: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** How many items were examined. */
  readonly examined: number;
  readonly failures: number;
  /** Descriptions of some failures. */
  readonly examples: readonly string[];
  /** Additional information: why it was skipped, that it examined a sample. */
  readonly note: string | null;
}

export interface RenderReport {
  accepted: number;
  ended: Record<string, number>;
  error_codes: Record<string, number>;
  /** Over the renders meant to complete, from the first acceptance to the last end, by the service's clock. */
  completed_per_hour: number | null;
  output_seconds: number;
  /**
   * Seconds of work per second of output: total processing time of all engines divided by the length of their outputs.
   */
  work_per_output_second: number | null;
  /** From created_at to a worker's claim. */
  queue_to_start_ms: Quantiles | null;
  queue_to_start_distribution: Distribution;
  /** How many starts were computed from the finished record, and how many come from the first poll that showed work. */
  start_from: { record: number; poll: number };
  /** From the caller's arrival to completed_at. */
  end_to_end_ms: Quantiles | null;
  end_to_end_distribution: Distribution;
  /** Open at the middle of the measured time and when the arrivals ended, including renders from the warm-up. */
  open_at_half: number;
  open_at_end: number;
}

export interface WebhookReport {
  events: number;
  attempts: number;
  redeliveries: number;
  /** From the event's created_at to the arrival of its first attempt, corrected for the clocks' offset. */
  first_attempt_lag_ms: Quantiles | null;
  by_receiver: Record<string, ReceiverReport>;
}

interface ReceiverReport {
  events: number;
  acknowledged: number;
  first_attempt_lag_ms: Quantiles | null;
  first_attempt_lag_distribution: Distribution;
}

export interface SeriesReport {
  slice_seconds: number;
  /** When arrivals ended, in seconds from the start. */
  arrivals_end_seconds: number;
  warm_up_seconds: number;
  slices: SliceReport[];
}

export interface SliceReport {
  at_seconds: number;
  arrivals: number;
  not_sent: number;
  completed: number;
  requests: number;
  failed: number;
  limited: number;
  open_renders: number;
  renders_completed: number;
  /** By operation; as in `Quantiles`, too few requests have no p99, but always a maximum. */
  latency_ms: Record<string, Pick<Quantiles, 'count' | 'p50' | 'p99' | 'max'>>;
}
