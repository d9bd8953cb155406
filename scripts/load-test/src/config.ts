import { type Engine, type SyncMode } from '@lipsync/contract';
import { type ArrivalPlan } from './callers/open-loop';
import { type ReceiverBehavior } from './target/receiver';

export const SCENARIOS = ['control-plane', 'renders', 'webhooks', 'soak'] as const;
type ScenarioName = (typeof SCENARIOS)[number];

/**
 * What a caller does.
 * - `get`: one get_render of an existing render
 * - `create`: create_render, then cancel_render: a render's way through the control plane without its work
 * - `replay`: repeats an earlier create_render with the same key and payload
 * - `upload`: create_upload, the bytes, complete_upload
 * - `render`: create_render, to be rendered
 */
export const JOURNEY_NAMES = ['get', 'create', 'replay', 'upload', 'render'] as const;
export type JourneyName = (typeof JOURNEY_NAMES)[number];
export type Mix = Readonly<Partial<Record<JourneyName, number>>>;

/** Callers of one kind, who arrive independently of the others. */
export interface StreamConfig {
  readonly name: string;
  readonly plan: ArrivalPlan;
  readonly mix: Mix;
  /** Whether their renders name a webhook URL, if there is a receiver. */
  readonly announces: boolean;
}

/** The settings of a run, by the names of their options. Durations are in seconds, rates per second. */
export interface LoadTestConfig {
  readonly scenario: string;
  readonly streams: readonly StreamConfig[];
  readonly duration: number;
  readonly warmUp: number;
  /** How long, after the last arrival, renders may take to end and webhooks to arrive. */
  readonly drain: number;
  readonly seed: number;
  /** Maximum to each origin. */
  readonly connections: number;
  readonly maxInFlight: number;
  readonly timeout: number;
  readonly pollInterval: number;
  readonly pollRate: number;
  /** Each render requests one of these sets of engines. */
  readonly engines: readonly (readonly Engine[])[];
  readonly syncModes: readonly SyncMode[];
  /** Whether renders use assets uploaded before the run, or each upload their own. */
  readonly media: 'once' | 'per-render';
  /** Files. */
  readonly video: string;
  readonly audio: string;
  /** Relative shares, of any sum. */
  readonly receivers: Readonly<Record<ReceiverBehavior, number>>;
  readonly slowSeconds: number;
  /** Share of requests, and of renders, that may fail before the run counts as failed. */
  readonly maxFailures: number;
  /** Maximum number of renders, deliveries and uploads, each, to check once more at the end. */
  readonly verifySample: number;
  /** Maximum number of outputs to download at the end. */
  readonly outputSample: number;
}

/** The command line, parsed. */
export interface LoadTestOptions extends Omit<LoadTestConfig, 'streams' | 'duration' | 'warmUp'> {
  readonly scenario: ScenarioName;
  readonly out: string;
  readonly target?: string;
  readonly key: readonly string[];
  readonly signingSecret: readonly string[];
  readonly webhookUrl?: string;
  readonly listen?: { readonly host: string; readonly port: number };
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly stackRoot?: string;
  readonly workers?: number;
  readonly customers: number;
  /** Arrivals per second of the scenario's own stream; for a soak, of the control plane's. */
  readonly rate?: number;
  readonly renderRate?: number;
  readonly webhookRate?: number;
  readonly burst: number;
  readonly duration?: number;
  readonly warmUp?: number;
  readonly mix: Mix;
}

const DURATION_SECONDS: Readonly<Record<ScenarioName, number>> = {
  'control-plane': 30,
  renders: 120,
  webhooks: 30,
  soak: 600,
};

/** The settings that the options of a scenario mean. Default rates are ones that two cores carry with the stack. */
export function configOf(options: LoadTestOptions): LoadTestConfig {
  const { scenario, rate, renderRate, webhookRate } = options;
  const { duration = DURATION_SECONDS[scenario], warmUp = scenario === 'renders' ? 0 : 5 } = options;
  const poisson = (ratePerSecond: number, burstSize = 1): ArrivalPlan => ({
    kind: 'poisson',
    ratePerSecond,
    burstSize,
    durationSeconds: warmUp + duration,
  });
  const controlPlane = (perSecond: number): StreamConfig => ({
    name: 'control-plane',
    plan: poisson(perSecond),
    mix: options.mix,
    announces: false,
  });
  const renders = (perSecond: number): StreamConfig => ({
    name: 'renders',
    plan: poisson(perSecond),
    mix: { render: 1 },
    announces: true,
  });
  const webhooks = (perSecond: number): StreamConfig => ({
    name: 'webhooks',
    plan: poisson(perSecond, options.burst),
    mix: { create: 1 },
    announces: true,
  });
  const streams: Record<ScenarioName, readonly StreamConfig[]> = {
    'control-plane': [controlPlane(rate ?? 40)],
    renders: [renders(rate ?? renderRate ?? 0.2)],
    webhooks: [webhooks(rate ?? webhookRate ?? 20)],
    soak: [controlPlane(rate ?? 10), renders(renderRate ?? 0.1), webhooks(webhookRate ?? 2)],
  };
  return { ...options, streams: streams[scenario], duration, warmUp };
}
