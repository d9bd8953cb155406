/** Round numbers that divide a range into about `count` parts. */
export function axisTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough) ?? rough;
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++)
    // Adding 0 makes a negative zero a plain one.
    ticks.push(index * step + 0);
  return ticks;
}

const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];

/** Round instants (UTC) in a range of seconds since the epoch. */
export function timeTicks(from: number, to: number, count: number): { at: number; label: string }[] {
  const rough = (to - from) / count;
  const step = TIME_STEPS.find((size) => size >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const iso = new Date(at * 1000).toISOString();
    ticks.push({ at, label: step >= 86_400 ? iso.slice(5, 10) : iso.slice(11, step < 60 ? 19 : 16) });
  }
  return ticks;
}
