import { type Engine, ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { InvalidArgumentError } from 'commander';
import { isJourney, type JourneyName, type ReceiverShares } from './config';
import { isReceiverBehaviour } from './webhooks/behaviour';

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

/** `fast=90,slow=10`; behaviours that are not named get no share. */
export function parseReceiverShares(text: string): ReceiverShares {
  const none = { fast: 0, slow: 0, hanging: 0, failing: 0 };
  return { ...none, ...parseWeights(text, isReceiverBehaviour, 'receivers') };
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
