import path from 'node:path';
import { type Engine, ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { parseCount, parseWhole, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  configOf,
  JOURNEY_NAMES,
  type LoadTestConfig,
  type LoadTestOptions,
  type Mix,
  SCENARIOS,
} from './config';
import { type LoadTarget, openDeployment, openLocalTarget } from './target/load-target';
import { RECEIVER_BEHAVIORS } from './target/receiver';

const DEFAULT_OUT = path.join(REPOSITORY_ROOT, '.local', 'load-test');
const repeated = (value: string, previous: string[]): string[] => [...previous, value];

export function addLoadTestOptions(program: Command): Command {
  return program
    .addOption(new Option('--scenario <name>', 'what callers do').choices(SCENARIOS).default('control-plane'))
    .option('--out <dir>', 'where report.json and report.html go', DEFAULT_OUT)
    .optionsGroup('Target (without --target: a local stack of its own, erased afterwards):')
    .option('--target <url>', 'base address of a deployment', parseUrl('http://', 'https://'))
    .option('--key <api-key>', 'API key; repeat for several customers', repeated, [])
    .option('--signing-secret <hex>', 'webhook secret of each --key, in the same order', repeated, [])
    .option(
      '--webhook-url <https-url>',
      'public address that leads to --listen; {behavior} in it becomes fast, slow, …',
      parseUrl('https://'),
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
    .option('--burst <n>', 'callers that arrive together, in webhooks and soak', parseCount, 20)
    .option('--duration <time>', 'of the measured arrivals: 90, 90s, 10m or 2h', parseDuration)
    .option('--warm-up <time>', 'arrivals before them, checked but not measured', parseDuration)
    .option('--drain <time>', 'for what was accepted to end', parseDuration, 180)
    .option('--seed <n>', 'of the arrivals and choices', parseWhole, 1)
    .option('--connections <n>', 'to each origin, at most', parseCount, 64)
    .option('--max-in-flight <n>', 'callers of all streams under way, at most', parseCount, 2_000)
    .option('--timeout <time>', 'for one request', parseDuration, 30)
    .optionsGroup('Callers:')
    .addOption(withText('--mix <weights>', 'of the control plane', parseMix, CONTROL_PLANE_MIX))
    .addOption(
      withText(
        '--engines <sets>',
        'alternatives of renders, such as musetalk+latentsync,highsync',
        parseEngineSets,
        'musetalk',
      ),
    )
    .addOption(withText('--sync-modes <modes>', 'alternatives of renders', parseSyncModes, 'cut_off'))
    .addOption(
      new Option('--media <when>', 'uploaded before the run, or by each render')
        .choices(['once', 'per-render'])
        .default('once'),
    )
    .option('--video <file>', 'a talking face', SAMPLE_VIDEO)
    .option('--audio <file>', 'the voice', SAMPLE_AUDIO)
    .addOption(withText('--receivers <weights>', 'how receivers behave', parseReceivers, RECEIVER_SHARES))
    .option('--slow-seconds <time>', 'of a slow one', parseDuration, 2)
    .option('--poll-interval <time>', 'of a render', parseDuration, 1)
    .option('--poll-rate <rate>', 'of all renders', parseRate, 20)
    .optionsGroup('Checks:')
    .option('--max-failures <share>', 'of requests and renders', parseRatio, 0.01)
    .option('--verify-sample <n>', 'things of a kind asked for again', parseCount, 500)
    .option('--output-sample <n>', 'renders whose outputs are fetched', parseCount, 10);
}

const CONTROL_PLANE_MIX = 'get=60,create=20,replay=12,upload=8';
const RECEIVER_SHARES = 'fast=90,slow=5,hanging=1,failing=4';

/** An option whose default is parsed from the text that the help shows. */
function withText<Value>(flags: string, help: string, parse: (text: string) => Value, text: string): Option {
  return new Option(flags, help).argParser(parse).default(parse(text), text);
}

/** The settings of the command without options. */
export function defaultConfig(): LoadTestConfig {
  return configOf(addLoadTestOptions(new Command()).parse([], { from: 'user' }).opts<LoadTestOptions>());
}

/** The named deployment, or a local stack by default. @throws Error when options contradict each other */
export async function openTarget(options: LoadTestOptions, say: (line: string) => void): Promise<LoadTarget> {
  const { target, key, signingSecret, webhookUrl, listen, tlsCert, tlsKey, stackRoot, workers } = options;
  const { customers, slowSeconds } = options;
  if (target === undefined) {
    if (key.length > 0) throw new Error('--key goes with --target: a local stack has customers of its own');
    const gpuWorkers = workers === undefined ? undefined : { count: workers };
    return openLocalTarget({ root: stackRoot, gpuWorkers, customers, slowSeconds, say });
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
            tls:
              tlsCert === undefined || tlsKey === undefined
                ? undefined
                : { certFile: tlsCert, keyFile: tlsKey },
          },
    slowSeconds,
  });
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600 };

/** `90`, `90s`, `10m`, `2h` → seconds. */
function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError('a duration such as 90, 90s, 10m or 2h');
  return Number(number) * (SECONDS[unit] ?? 1);
}

/** `20`, `20/s`, `12/m`, `600/h` → per second. */
function parseRate(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(?:\/(s|m|min|h))?$/.exec(text) ?? [];
  const rate = Number(number) / (SECONDS[unit] ?? 1);
  if (!(rate > 0)) throw new InvalidArgumentError('a rate such as 20, 20/s, 12/m or 600/h');
  return rate;
}

function parseRatio(text: string): number {
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw new InvalidArgumentError('a share from 0 to 1');
  return ratio;
}

/** `musetalk+latentsync,highsync`: each render requests musetalk and latentsync, or highsync. */
function parseEngineSets(text: string): Engine[][] {
  return text.split(',').map((set) => set.split('+').map((name) => oneOf(ENGINES, name, 'engines')));
}

function parseSyncModes(text: string): SyncMode[] {
  return text.split(',').map((name) => oneOf(SYNC_MODES, name, 'sync modes'));
}

/** `get=60,create=20` */
function parseMix(text: string): Mix {
  return parseWeights(text, JOURNEY_NAMES, 'journeys');
}

/** `fast=90,slow=10`; behaviors that are not named get no share. */
function parseReceivers(text: string): LoadTestConfig['receivers'] {
  const none = { fast: 0, slow: 0, hanging: 0, failing: 0 };
  return { ...none, ...parseWeights(text, RECEIVER_BEHAVIORS, 'receivers') };
}

/** `[host:]port` */
function parseListen(text: string): { host: string; port: number } {
  const [, host = '0.0.0.0', port] = /^(?:([^:]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new InvalidArgumentError('[host:]port');
  return { host, port: Number(port) };
}

function parseUrl(...beginnings: string[]) {
  return (text: string): string => {
    const canBe = beginnings.some((beginning) => text.startsWith(beginning));
    if (!canBe || !URL.canParse(text.replaceAll('{behavior}', 'fast')))
      throw new InvalidArgumentError(`an address that begins with ${beginnings.join(' or ')}`);
    return text;
  };
}

function oneOf<Name extends string>(names: readonly Name[], text: string, what: string): Name {
  const found = names.find((name) => name === text.trim());
  if (found === undefined) throw new InvalidArgumentError(`${what} are ${names.join(', ')}`);
  return found;
}

function parseWeights<Name extends string>(
  text: string,
  names: readonly Name[],
  what: string,
): Partial<Record<Name, number>> {
  const weights: Partial<Record<Name, number>> = {};
  for (const part of text.split(',')) {
    const [name = '', weight = ''] = part.split('=').map((side) => side.trim());
    if (!/^\d+(\.\d+)?$/.test(weight)) throw new InvalidArgumentError(`name=weight,… of ${what}`);
    weights[oneOf(names, name, what)] = Number(weight);
  }
  if (Object.values<number | undefined>(weights).every((weight) => !weight))
    throw new InvalidArgumentError('at least one weight above 0');
  return weights;
}
