const PREFIXES = ['', 'k', 'M', 'G', 'T'];

/** Formats a value as Grafana does for this unit. */
export function formatValue(value: number, unit = 'short', decimals?: number): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  switch (unit) {
    case 's':
      return seconds(value);
    case 'percentunit':
      return `${trimmed(value * 100, decimals)} %`;
    case 'bytes':
      return scaled(value, 1024, (prefix) => (prefix === '' ? ' B' : ` ${prefix.toUpperCase()}iB`));
    case 'Bps':
      return scaled(value, 1000, (prefix) => ` ${prefix}B/s`);
    case 'reqps':
      return scaled(value, 1000, (prefix) => ` ${prefix}req/s`);
    case 'ops':
      return scaled(value, 1000, (prefix) => ` ${prefix}/s`);
    default:
      return scaled(value, 1000, (prefix) => (prefix === '' ? '' : ` ${prefix}`));
  }
}

function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 0.001) return `${trimmed(value * 1e6)} µs`;
  if (size < 1) return `${trimmed(value * 1000)} ms`;
  if (size < 120) return `${trimmed(value)} s`;
  if (size < 7200) return `${trimmed(value / 60)} min`;
  return size < 172_800 ? `${trimmed(value / 3600)} h` : `${trimmed(value / 86_400)} d`;
}

function scaled(value: number, base: number, suffix: (prefix: string) => string): string {
  let left = value;
  let power = 0;
  while (Math.abs(left) >= base && power < PREFIXES.length - 1) {
    left /= base;
    power += 1;
  }
  return `${trimmed(left)}${suffix(PREFIXES[power] ?? '')}`;
}

/** Three significant digits by default, without trailing zeros. */
function trimmed(value: number, decimals?: number): string {
  return decimals === undefined ? String(Number(value.toPrecision(3))) : value.toFixed(decimals);
}
