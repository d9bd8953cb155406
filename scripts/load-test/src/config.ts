import { type Engine, type SyncMode } from '@lipsync/contract';
import { type ArrivalPlan } from './callers/open-loop';
import { type ReceiverBehavior } from './target/receiver';

export const SCENARIOS = ['control-plane', 'renders', 'webhooks', 'soak'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

/**
 * What a caller does.
 * - `get`: one get_render of an existing render
 * - `create`: create_render, then cancel_render: a render's way through the control plane without its work
 * - `replay`: repeats an earlier create_render with the same key and payload
 * - `upload`: create_upload, the bytes, complete_upload
 * - `render`: create_render, to be rendered
 */
const JOURNEY_NAMES = ['get', 'create', 'replay', 'upload', 'render'] as const;
export type JourneyName = (typeof JOURNEY_NAMES)[number];
export function isJourney(text: string): text is JourneyName {
  return JOURNEY_NAMES.some((name) => name === text);
}
export type Mix = Readonly<Partial<Record<JourneyName, number>>>;

/** Callers of one kind, who arrive independently of the others. */
export interface StreamConfig {
  readonly name: string;
  readonly plan: ArrivalPlan;
  readonly mix: Mix;
  /** Whether their renders name a webhook URL, if there is a receiver. */
  readonly announces: boolean;
}

/** Relative shares, of any sum. */
export type ReceiverShares = Readonly<Record<ReceiverBehavior, number>>;

export interface LoadTestConfig {
  readonly scenario: string;
  readonly streams: readonly StreamConfig[];
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  /** How long, after the last arrival, renders may take to end and webhooks to arrive. */
  readonly drainSeconds: number;
  readonly seed: number;
  /** Maximum to each origin. */
  readonly connections: number;
  readonly maxInFlight: number;
  readonly timeoutSeconds: number;
  readonly pollIntervalSeconds: number;
  readonly pollsPerSecond: number;
  /** Each render requests one of these sets of engines. */
  readonly engines: readonly (readonly Engine[])[];
  readonly syncModes: readonly SyncMode[];
  /** Whether renders use assets uploaded before the run, or each upload their own. */
  readonly media: 'once' | 'per-render';
  readonly videoFile: string;
  readonly audioFile: string;
  readonly receiverShares: ReceiverShares;
  readonly slowReceiverSeconds: number;
  /** Share of requests, and of renders, that may fail before the run counts as failed. */
  readonly maxFailureRatio: number;
  /** Maximum number of renders, deliveries and uploads, each, to check once more at the end. */
  readonly verifySample: number;
  /** Maximum number of outputs to download at the end. */
  readonly outputSample: number;
}

const CONTROL_PLANE_MIX: Mix = { get: 60, create: 20, replay: 12, upload: 8 };

interface ScenarioRates {
  /** Arrivals per second of the scenario's own stream (for a soak, the control plane's). */
  readonly rate?: number | undefined;
  readonly renderRate?: number | undefined;
  readonly webhookRate?: number | undefined;
  readonly burst?: number | undefined;
  readonly durationSeconds?: number | undefined;
  readonly warmUpSeconds?: number | undefined;
  readonly mix?: Mix | undefined;
}

interface ScenarioShape {
  readonly streams: readonly StreamConfig[];
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
}

/** The streams of a scenario. Default rates are ones that two cores can handle together with the local stack. */
export function scenarioShape(scenario: ScenarioName, given: ScenarioRates): ScenarioShape {
  const { warmUpSeconds = scenario === 'renders' ? 0 : 5 } = given;
  const durationSeconds = given.durationSeconds ?? DURATION_SECONDS[scenario];
  const totalSeconds = warmUpSeconds + durationSeconds;
  const poisson = (ratePerSecond: number, burstSize = 1): ArrivalPlan => ({
    kind: 'poisson',
    ratePerSecond,
    burstSize,
    durationSeconds: totalSeconds,
  });
  const controlPlane = (rate: number): StreamConfig => ({
    name: 'control-plane',
    plan: poisson(rate),
    mix: given.mix ?? CONTROL_PLANE_MIX,
    announces: false,
  });
  const renders = (rate: number): StreamConfig => ({
    name: 'renders',
    plan: poisson(rate),
    mix: { render: 1 },
    announces: true,
  });
  const webhooks = (rate: number): StreamConfig => ({
    name: 'webhooks',
    plan: poisson(rate, given.burst ?? 20),
    mix: { create: 1 },
    announces: true,
  });
  const streams: Record<ScenarioName, () => StreamConfig[]> = {
    'control-plane': () => [controlPlane(given.rate ?? 40)],
    renders: () => [renders(given.rate ?? given.renderRate ?? 0.2)],
    webhooks: () => [webhooks(given.rate ?? given.webhookRate ?? 20)],
    soak: () => [
      controlPlane(given.rate ?? 10),
      renders(given.renderRate ?? 0.1),
      webhooks(given.webhookRate ?? 2),
    ],
  };
  return { streams: streams[scenario](), durationSeconds, warmUpSeconds };
}

const DURATION_SECONDS: Readonly<Record<ScenarioName, number>> = {
  'control-plane': 30,
  renders: 120,
  webhooks: 30,
  soak: 600,
};

/** The settings that do not depend on the scenario. */
export const CONFIG_DEFAULTS: Omit<
  LoadTestConfig,
  'scenario' | 'streams' | 'durationSeconds' | 'warmUpSeconds' | 'videoFile' | 'audioFile'
> = {
  drainSeconds: 180,
  seed: 1,
  connections: 64,
  maxInFlight: 2_000,
  timeoutSeconds: 30,
  pollIntervalSeconds: 1,
  pollsPerSecond: 20,
  engines: [['musetalk']],
  syncModes: ['cut_off'],
  media: 'once',
  receiverShares: { fast: 90, slow: 5, hanging: 1, failing: 4 },
  slowReceiverSeconds: 2,
  maxFailureRatio: 0.01,
  verifySample: 500,
  outputSample: 10,
};
