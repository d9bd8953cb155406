import { type Comparison, type Distribution, type Run } from './compare';
import { type Plan } from './plan';

export function printPlan(plan: Plan, currency: string): void {
  const cost = (value: number | null): string => (value === null ? '' : `${value.toFixed(2)} ${currency}`);
  table([
    ['pods', 'count', 'busy', 'wait p50', 'wait p95', 'per hour'],
    ...plan.pools.map(({ kind, pods, utilization, waitP50, waitP95, costPerHour }) => [
      kind,
      String(pods),
      share(utilization),
      time(waitP50),
      time(waitP95),
      cost(costPerHour),
    ]),
  ]);
  console.log(
    `\nA render takes ${time(plan.endToEndP50)} (p50), ${time(plan.endToEndP95)} (p95) from create to completed.`,
  );
  const { postgres, redis } = plan.shared;
  console.log(
    `Postgres: up to ${scaled(postgres.connections)} connections, ${scaled(postgres.transactionsPerSecond)} transactions a second, ${postgres.cores.toFixed(2)} cores, ` +
      `${scaled(postgres.walBytesPerSecond, 'B/s')} of write-ahead log, ${scaled(postgres.storedBytes, 'B')} of rows and indexes.`,
  );
  console.log(
    `Redis: ${scaled(redis.commandsPerSecond)} commands a second, ${redis.cores.toFixed(2)} cores.`,
  );
  if (plan.costPerRender !== null)
    console.log(`${cost(plan.costPerHour)} an hour, ${cost(plan.costPerRender * 1000)} for 1000 renders.`);
}

export function printComparison({ renders, measured, replayed, shuffled, modeled }: Comparison): void {
  const row = (name: string, of: (run: Run) => number, print: (value: number) => string): string[] => [
    name,
    ...[measured, replayed, shuffled, modeled].map((run) => print(of(run))),
    ...[replayed, shuffled, modeled].map((run) => deviation(of(run), of(measured))),
  ];
  const distribution = (name: string, of: (run: Run) => Distribution): string[][] =>
    (['mean', 'p50', 'p90', 'p95'] as const).map((part) =>
      row(`${name} ${part}`, (run) => of(run)[part], time),
    );
  console.log(
    `${renders} renders: as measured, and simulated: with own times, with own times shuffled, with the model`,
  );
  table([
    ['', 'measured', 'own', 'shuffled', 'model', 'own', 'shuffled', 'model'],
    ...distribution('wait of engine jobs,', ({ wait }) => wait),
    ...distribution('created to completed,', ({ end_to_end }) => end_to_end),
    row(
      'completed at the last arrival',
      (run) => run.completed_at_last_arrival,
      (value) => value.toFixed(0),
    ),
    row(
      'completed per hour',
      (run) => run.completed_per_hour,
      (value) => value.toFixed(0),
    ),
    row('engine slots busy', ({ utilization }) => utilization, share),
  ]);
}

function deviation(value: number, from: number): string {
  const percent = Math.round((value / from - 1) * 100);
  return Number.isFinite(percent) ? `${percent >= 0 ? '+' : ''}${percent} %` : '–';
}

function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of rows)
    console.log(
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    );
}

const time = (seconds: number | null): string => (seconds === null ? '' : duration(seconds));

/** 95 ms, 12.3 s, 2.1 min, 3 h */
function duration(seconds: number): string {
  if (Number.isNaN(seconds)) return '–';
  if (seconds === 0) return '0 s';
  if (seconds < 1) return `${significant(seconds * 1000)} ms`;
  if (seconds < 120) return `${significant(seconds)} s`;
  if (seconds < 7200) return `${significant(seconds / 60)} min`;
  return `${significant(seconds / 3600)} h`;
}

/** 1.24 k, 2.16 MB: three significant digits and a decimal prefix. */
function scaled(value: number, unit = ''): string {
  const power = value < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(value) / 3));
  const suffix = `${['', 'k', 'M', 'G', 'T'][power] ?? ''}${unit}`;
  return `${significant(value / 1000 ** power)}${suffix === '' ? '' : ` ${suffix}`}`;
}

const significant = (value: number): string => String(Number(value.toPrecision(3)));
const share = (value: number): string => `${Math.round(value * 100)} %`;
