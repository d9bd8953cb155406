import path from 'node:path';
import { type Engine, ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { parseCount, parseWhole, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  CONFIG_DEFAULTS,
  isJourney,
  type JourneyName,
  type LoadTestConfig,
  type Mix,
  type ReceiverShares,
  type ScenarioName,
  SCENARIOS,
  scenarioShape,
} from './config';
import { type LoadTarget, openDeployment, openLocalTarget } from './target/load-target';
import { isReceiverBehavior } from './target/receiver';

/** The command line, parsed. */
export interface LoadTestOptions {
  scenario: ScenarioName;
  out: string;
  target?: string;
  key: string[];
  signingSecret: string[];
  webhookUrl?: string;
  listen?: { host: string; port: number };
  tlsCert?: string;
  tlsKey?: string;
  stackRoot?: string;
  workers?: number;
  customers: number;
  rate?: number;
  renderRate?: number;
  webhookRate?: number;
  burst?: number;
  duration?: number;
  warmUp?: number;
  drain: number;
  mix?: Mix;
  engines: Engine[][];
  syncModes: SyncMode[];
  media: 'once' | 'per-render';
  video: string;
  audio: string;
  receivers: ReceiverShares;
  slowSeconds: number;
  connections: number;
  maxInFlight: number;
  timeout: number;
  pollInterval: number;
  pollRate: number;
  seed: number;
  maxFailures: number;
  verifySample: number;
  outputSample: number;
}

const DEFAULT_OUT = path.join(REPOSITORY_ROOT, '.local', 'load-test');
const repeated = (value: string, previous: string[]): string[] => [...previous, value];
const { receiverShares } = CONFIG_DEFAULTS;

export function addLoadTestOptions(program: Command): Command {
  const defaults = CONFIG_DEFAULTS;
  return program
    .addOption(new Option('--scenario <name>', 'what callers do').choices(SCENARIOS).default('control-plane'))
    .option('--out <dir>', 'where report.json and report.html go', DEFAULT_OUT)
    .optionsGroup('Target (without --target: a local stack of its own, erased afterwards):')
    .option('--target <url>', 'base address of a deployment', parseHttpUrl)
    .option('--key <api-key>', 'API key; repeat for several customers', repeated, [])
    .option('--signing-secret <hex>', 'webhook secret of each --key, in the same order', repeated, [])
    .option(
      '--webhook-url <https-url>',
      'public address that leads to --listen; {behaviour} in it becomes fast, slow, …',
      parseHttpsUrl,
    )
    .option('--listen <[host:]port>', 'where the webhook receiver listens', parseListen)
    .option('--tls-cert <file>', 'PEM for --listen; without it something in front speaks TLS')
    .option('--tls-key <file>', 'PEM for --listen')
    .option('--stack-root <dir>', 'use the local stack of this directory and leave it as it was')
    .option('--workers <n>', 'gpu-workers of the local stack', parseCount)
    .option('--customers <n>', 'customers of the local stack', parseCount, 4)
    .optionsGroup('Load:')
    .option('--rate <rate>', 'callers: 20, 20/s, 12/m or 600/h', parseRate)
    .option('--render-rate <rate>', 'of a soak: renders', parseRate)
    .option('--webhook-rate <rate>', 'of a soak: renders that are cancelled and announced', parseRate)
    .option('--burst <n>', 'callers that arrive together, in webhooks and soak', parseCount)
    .option('--duration <time>', 'of the measured arrivals: 90, 90s, 10m or 2h', parseDuration)
    .option('--warm-up <time>', 'arrivals before them, checked but not measured', parseDuration)
    .option('--drain <time>', 'for what was accepted to end', parseDuration, defaults.drainSeconds)
    .option('--seed <n>', 'of the arrivals and choices', parseWhole, defaults.seed)
    .option('--connections <n>', 'to each origin, at most', parseCount, defaults.connections)
    .option(
      '--max-in-flight <n>',
      'callers of all streams under way, at most',
      parseCount,
      defaults.maxInFlight,
    )
    .option('--timeout <time>', 'for one request', parseDuration, defaults.timeoutSeconds)
    .optionsGroup('Callers:')
    .option('--mix <weights>', 'of the control plane: get=60,create=20,replay=12,upload=8', parseMix)
    .addOption(
      new Option('--engines <sets>', 'alternatives of renders, such as musetalk+latentsync,highsync')
        .argParser(parseEngineSets)
        .default(mutable(defaults.engines), 'musetalk'),
    )
    .addOption(
      new Option('--sync-modes <modes>', 'alternatives of renders')
        .argParser(parseSyncModes)
        .default([...defaults.syncModes], 'cut_off'),
    )
    .addOption(
      new Option('--media <when>', 'uploaded before the run, or by each render')
        .choices(['once', 'per-render'])
        .default(defaults.media),
    )
    .option('--video <file>', 'a talking face', SAMPLE_VIDEO)
    .option('--audio <file>', 'the voice', SAMPLE_AUDIO)
    .addOption(
      new Option('--receivers <weights>', 'how receivers behave')
        .argParser(parseReceiverShares)
        .default(receiverShares, 'fast=90,slow=5,hanging=1,failing=4'),
    )
    .option('--slow-seconds <time>', 'of a slow one', parseDuration, defaults.slowReceiverSeconds)
    .option('--poll-interval <time>', 'of a render', parseDuration, defaults.pollIntervalSeconds)
    .option('--poll-rate <rate>', 'of all renders', parseRate, defaults.pollsPerSecond)
    .optionsGroup('Checks:')
    .option('--max-failures <share>', 'of requests and renders', parseRatio, defaults.maxFailureRatio)
    .option('--verify-sample <n>', 'things of a kind asked for again', parseCount, defaults.verifySample)
    .option('--output-sample <n>', 'renders whose outputs are fetched', parseCount, defaults.outputSample);
}

export function configOf(options: LoadTestOptions): LoadTestConfig {
  return {
    scenario: options.scenario,
    ...scenarioShape(options.scenario, {
      ...options,
      durationSeconds: options.duration,
      warmUpSeconds: options.warmUp,
    }),
    drainSeconds: options.drain,
    seed: options.seed,
    connections: options.connections,
    maxInFlight: options.maxInFlight,
    timeoutSeconds: options.timeout,
    pollIntervalSeconds: options.pollInterval,
    pollsPerSecond: options.pollRate,
    engines: options.engines,
    syncModes: options.syncModes,
    media: options.media,
    videoFile: options.video,
    audioFile: options.audio,
    receiverShares: options.receivers,
    slowReceiverSeconds: options.slowSeconds,
    maxFailureRatio: options.maxFailures,
    verifySample: options.verifySample,
    outputSample: options.outputSample,
  };
}

/** The named deployment, or a local stack by default. @throws Error when options contradict each other */
export async function openTarget(options: LoadTestOptions, say: (line: string) => void): Promise<LoadTarget> {
  const { target, key, signingSecret, webhookUrl, listen, tlsCert, tlsKey, stackRoot, workers } = options;
  const slowReceiverMs = options.slowSeconds * 1000;
  if (target === undefined) {
    if (key.length > 0) throw new Error('--key goes with --target: a local stack has customers of its own');
    return openLocalTarget({
      ...(stackRoot === undefined ? {} : { root: stackRoot }),
      ...(workers === undefined ? {} : { gpuWorkers: { count: workers } }),
      customers: options.customers,
      slowReceiverMs,
      say,
    });
  }
  if (stackRoot !== undefined || workers !== undefined)
    throw new Error('--stack-root and --workers are of a local stack: leave --target out');
  if (key.length === 0) throw new Error('--target needs a --key');
  if (signingSecret.length > 0 && signingSecret.length !== key.length)
    throw new Error('there must be one --signing-secret for each --key');
  if ((webhookUrl === undefined) !== (listen === undefined))
    throw new Error('--webhook-url and --listen go together');
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Error('--tls-cert and --tls-key go together');
  return openDeployment({
    baseUrl: target,
    customers: key.map((apiKey, i) => ({ apiKey, signingSecret: signingSecret[i] ?? null })),
    webhooks:
      webhookUrl === undefined || listen === undefined
        ? null
        : {
            publicUrl: webhookUrl,
            ...listen,
            ...(tlsCert === undefined || tlsKey === undefined
              ? {}
              : { tls: { certFile: tlsCert, keyFile: tlsKey } }),
          },
    slowReceiverMs,
  });
}

function mutable<Item>(sets: readonly (readonly Item[])[]): Item[][] {
  return sets.map((set) => [...set]);
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600 };

/** `90`, `90s`, `10m`, `2h` → seconds. */
export function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('a duration such as 90, 90s, 10m or 2h');
  return Number(number) * (SECONDS[unit] ?? 1);
}

/** `20`, `20/s`, `12/m`, `600/h` → per second. */
export function parseRate(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(?:\/(s|m|min|h))?$/.exec(text) ?? [];
  const rate = Number(number) / (SECONDS[unit] ?? 1);
  if (!(rate > 0)) throw new InvalidArgumentError('a rate such as 20, 20/s, 12/m or 600/h');
  return rate;
}

export function parseRatio(text: string): number {
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw new InvalidArgumentError('a share from 0 to 1');
  return ratio;
}

/** `musetalk+latentsync,highsync`: each render requests musetalk and latentsync, or highsync. */
export function parseEngineSets(text: string): Engine[][] {
  return text.split(',').map((set) => set.split('+').map((name) => oneOf(ENGINES, name, 'engines')));
}

export function parseSyncModes(text: string): SyncMode[] {
  return text.split(',').map((name) => oneOf(SYNC_MODES, name, 'sync modes'));
}

/** `get=60,create=20` */
export function parseMix(text: string): Partial<Record<JourneyName, number>> {
  return parseWeights(text, isJourney, 'journeys');
}

/** `fast=90,slow=10`; behaviors that are not named get no share. */
export function parseReceiverShares(text: string): ReceiverShares {
  const none = { fast: 0, slow: 0, hanging: 0, failing: 0 };
  return { ...none, ...parseWeights(text, isReceiverBehavior, 'receivers') };
}

/** `[host:]port` */
export function parseListen(text: string): { host: string; port: number } {
  const [, host = '0.0.0.0', port] = /^(?:([^:]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new InvalidArgumentError('[host:]port');
  return { host, port: Number(port) };
}

export function parseHttpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('an address that begins with http:// or https://');
  return text;
}

export function parseHttpsUrl(text: string): string {
  if (!URL.canParse(text.replaceAll('{behaviour}', 'fast')) || !text.startsWith('https://'))
    throw new InvalidArgumentError('an address that begins with https://');
  return text;
}

function oneOf<Name extends string>(names: readonly Name[], text: string, what: string): Name {
  const found = names.find((name) => name === text.trim());
  if (found === undefined) throw new InvalidArgumentError(`${what} are ${names.join(', ')}`);
  return found;
}

function parseWeights<Name extends string>(
  text: string,
  isName: (name: string) => name is Name,
  what: string,
): Partial<Record<Name, number>> {
  const weights: Partial<Record<Name, number>> = {};
  for (const part of text.split(',')) {
    const [name = '', weight = ''] = part.split('=').map((side) => side.trim());
    if (!isName(name) || !/^\d+(\.\d+)?$/.test(weight))
      throw new InvalidArgumentError(`name=weight,… of ${what}`);
    weights[name] = Number(weight);
  }
  if (Object.values<number | undefined>(weights).every((weight) => !weight))
    throw new InvalidArgumentError('at least one weight above 0');
  return weights;
}
