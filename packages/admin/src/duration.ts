import { InvalidArgumentError } from 'commander';

const SECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);
const MAX_SECONDS = 30 * 86_400;

/** Parses `90s`, `30m`, `24h` or `7d` to seconds, at most 30 days. Throws commander's InvalidArgumentError. */
export function duration(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(value) ?? [];
  const seconds = Number(count) * (SECONDS.get(unit) ?? NaN);
  if (!(seconds <= MAX_SECONDS)) throw new InvalidArgumentError('a duration as 30m, 24h or 7d, at most 30d');
  return seconds;
}
