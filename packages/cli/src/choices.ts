import type { Engine, MediaType, SyncMode } from '@lipsync/client';
import { InvalidArgumentError } from 'commander';

// Objects instead of arrays, so that the compiler refuses a list that lacks a value of the contract.
export const ENGINES = Object.keys({
  musetalk: true,
  latentsync: true,
  highsync: true,
} satisfies Record<Engine, true>) as Engine[];

export const SYNC_MODES = Object.keys({
  cut_off: true,
  bounce: true,
  loop: true,
  remap: true,
  silence: true,
} satisfies Record<SyncMode, true>) as SyncMode[];

export const MEDIA_TYPES = Object.keys({ video: true, audio: true } satisfies Record<MediaType, true>);

/** `musetalk,highsync`, or all of them as `all`. */
export function engineList(value: string): Engine[] {
  if (value === 'all') return ENGINES;
  const engines = value.split(',').map((word) => {
    const engine = ENGINES.find((known) => known === word.trim());
    if (engine === undefined) throw new InvalidArgumentError(`Engines are ${ENGINES.join(', ')}, or all.`);
    return engine;
  });
  return [...new Set(engines)];
}

/** The words that can come next in a list of engines. */
export function engineWords(current: string): string[] {
  const done = current.split(',').slice(0, -1);
  const left = ENGINES.filter((engine) => !done.includes(engine));
  return [...left.map((engine) => [...done, engine].join(',')), ...(done.length === 0 ? ['all'] : [])];
}

const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const MAX_MS = 24 * 3_600_000;

/** Parses `90s`, `30m` or `2h` to milliseconds, at most a day. */
export function duration(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,7})([smh])$/.exec(value) ?? [];
  const milliseconds = Number(count) * (MILLISECONDS.get(unit) ?? NaN);
  if (!(milliseconds > 0 && milliseconds <= MAX_MS))
    throw new InvalidArgumentError('Use a duration like 90s, 30m or 2h, at most 24h.');
  return milliseconds;
}

/** What the service sends webhooks to. It decides itself which hosts are public. */
export function webhookAddress(value: string): string {
  if (URL.canParse(value) && new URL(value).protocol === 'https:') return value;
  throw new InvalidArgumentError(
    'Use a public https URL. For a receiver on this machine, use lipsync webhook listen.',
  );
}

/** A number from 1, of things. */
export function count(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Use a whole number, 1 or more.');
}
