/** A period and its sampling step, in seconds since the epoch. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

const POINTS = 240;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses `now`, `now-90m`, or a date that JavaScript reads (ISO 8601), to seconds since the epoch. */
export function parseTime(text: string, nowSeconds: number): number {
  const relative = /^now(?:-(\d+)([smhd]))?$/.exec(text);
  if (relative) return nowSeconds - Number(relative[1] ?? 0) * (UNITS[relative[2] ?? 's'] ?? 1);
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`not a time: ${text}`);
  return ms / 1000;
}

/** The range with a whole number of seconds between its points, and its ends aligned to that grid. */
export function timeRange(from: number, to: number, smallestStep: number): TimeRange {
  if (!(to > from)) throw new Error('the range must end after its beginning');
  const step = Math.max(smallestStep, Math.ceil((to - from) / POINTS));
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, step };
}
