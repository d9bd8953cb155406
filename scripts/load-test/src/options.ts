import path from 'node:path';
import { type Engine, type SyncMode } from '@lipsync/contract';
import { parseCount, parseWhole, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/scripts';
import { type Command, Option } from 'commander';
import {
  CONFIG_DEFAULTS,
  type LoadTestConfig,
  type Mix,
  type ReceiverShares,
  type ScenarioName,
  SCENARIOS,
  scenarioShape,
} from './config';
import * as parse from './parse-option';
import { openDeployment } from './target/deployment';
import { openLocalTarget } from './target/local-target';
import { type LoadTarget } from './target/target';

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
    .option('--target <url>', 'base address of a deployment', parse.parseHttpUrl)
    .option('--key <api-key>', 'API key; repeat for several customers', repeated, [])
    .option('--signing-secret <hex>', 'webhook secret of each --key, in the same order', repeated, [])
    .option(
      '--webhook-url <https-url>',
      'public address that leads to --listen; {behaviour} in it becomes fast, slow, …',
      parse.parseHttpsUrl,
    )
    .option('--listen <[host:]port>', 'where the webhook receiver listens', parse.parseListen)
    .option('--tls-cert <file>', 'PEM for --listen; without it something in front speaks TLS')
    .option('--tls-key <file>', 'PEM for --listen')
    .option('--stack-root <dir>', 'use the local stack of this directory and leave it as it was')
    .option('--workers <n>', 'gpu-workers of the local stack', parseCount)
    .option('--customers <n>', 'customers of the local stack', parseCount, 4)
    .optionsGroup('Load:')
    .option('--rate <rate>', 'callers: 20, 20/s, 12/m or 600/h', parse.parseRate)
    .option('--render-rate <rate>', 'of a soak: renders', parse.parseRate)
    .option('--webhook-rate <rate>', 'of a soak: renders that are cancelled and announced', parse.parseRate)
    .option('--burst <n>', 'callers that arrive together, in webhooks and soak', parseCount)
    .option('--duration <time>', 'of the measured arrivals: 90, 90s, 10m or 2h', parse.parseDuration)
    .option('--warm-up <time>', 'arrivals before them, checked but not measured', parse.parseDuration)
    .option('--drain <time>', 'for what was accepted to end', parse.parseDuration, defaults.drainSeconds)
    .option('--seed <n>', 'of the arrivals and choices', parseWhole, defaults.seed)
    .option('--connections <n>', 'to each origin, at most', parseCount, defaults.connections)
    .option(
      '--max-in-flight <n>',
      'callers of all streams under way, at most',
      parseCount,
      defaults.maxInFlight,
    )
    .option('--timeout <time>', 'for one request', parse.parseDuration, defaults.timeoutSeconds)
    .optionsGroup('Callers:')
    .option('--mix <weights>', 'of the control plane: get=60,create=20,replay=12,upload=8', parse.parseMix)
    .addOption(
      new Option('--engines <sets>', 'alternatives of renders, such as musetalk+latentsync,highsync')
        .argParser(parse.parseEngineSets)
        .default(mutable(defaults.engines), 'musetalk'),
    )
    .addOption(
      new Option('--sync-modes <modes>', 'alternatives of renders')
        .argParser(parse.parseSyncModes)
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
        .argParser(parse.parseReceiverShares)
        .default(receiverShares, 'fast=90,slow=5,hanging=1,failing=4'),
    )
    .option('--slow-seconds <time>', 'of a slow one', parse.parseDuration, defaults.slowReceiverSeconds)
    .option('--poll-interval <time>', 'of a render', parse.parseDuration, defaults.pollIntervalSeconds)
    .option('--poll-rate <rate>', 'of all renders', parse.parseRate, defaults.pollsPerSecond)
    .optionsGroup('Checks:')
    .option('--max-failures <share>', 'of requests and renders', parse.parseRatio, defaults.maxFailureRatio)
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
