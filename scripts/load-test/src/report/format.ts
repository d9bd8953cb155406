/** 0.42 ms, 12.3 ms, 1.25 s, 3.1 min */
export function milliseconds(ms: number | null | undefined): string {
  if (ms == null || Number.isNaN(ms)) return '–';
  if (ms === 0) return '0';
  if (ms < 1000) return `${significant(ms)} ms`;
  if (ms < 120_000) return `${significant(ms / 1000)} s`;
  return `${significant(ms / 60_000)} min`;
}

/** 45 s, 12:30, 2:05:00 */
export function clockTime(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.round(seconds % 60)];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

export function perSecond(rate: number): string {
  return rate >= 1 || rate === 0 ? `${significant(rate)}/s` : `${significant(rate * 60)}/min`;
}

export function whole(count: number): string {
  return count.toLocaleString('en-GB');
}

export function percent(share: number): string {
  return `${significant(share * 100)} %`;
}

export function significant(value: number): string {
  return value >= 1000 ? whole(Math.round(value)) : String(Number(value.toPrecision(3)));
}
