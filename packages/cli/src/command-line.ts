import { InvalidArgumentError } from 'commander';

const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
/** setTimeout takes no more than 2^31 - 1 ms, which is 24.8 days. */
const MAX_MS = 24 * 3_600_000;

/** Parses `90s`, `30m` or `2h` to milliseconds, at most a day. */
export function duration(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,7})([smh])$/.exec(value) ?? [];
  const milliseconds = Number(count) * (MILLISECONDS.get(unit) ?? NaN);
  if (!(milliseconds > 0 && milliseconds <= MAX_MS))
    throw new InvalidArgumentError('Use a duration like 90s, 30m or 2h, at most 24h.');
  return milliseconds;
}
