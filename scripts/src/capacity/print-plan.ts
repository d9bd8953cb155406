import { formatValue } from '../dashboard/format-value';
import { type Comparison, type Distribution } from './compare';
import { type Plan, type ScaledDay } from './plan';

const time = (seconds: number | null): string => (seconds === null ? '' : formatValue(seconds, 's'));
const share = (value: number): string => `${Math.round(value * 100)} %`;

export function printPlan(plan: Plan, currency: string): void {
  const cost = (value: number | null, digits = 2): string =>
    value === null ? '' : `${value.toFixed(digits)} ${currency}`;
  table([
    ['pods', 'count', 'busy', 'wait p50', 'wait p95', 'per hour'],
    ...plan.pools.map(({ kind, pods, utilisation, waitP50, waitP95, costPerHour }) => [
      ...[kind, String(pods), share(utilisation), time(waitP50), time(waitP95), cost(costPerHour)],
    ]),
  ]);
  console.log(
    `\nA render takes ${time(plan.endToEndP50)} (p50), ${time(plan.endToEndP95)} (p95) from create to completed.`,
  );
  if (plan.costPerRender !== null)
    console.log(`${cost(plan.costPerHour)} an hour, ${cost(plan.costPerRender, 4)} a render.`);
}

export function printDay(days: readonly ScaledDay[]): void {
  table([
    ['engine', 'pod hours a day', 'pods at most', 'wait p50', 'wait p95', 'handed over'],
    ...days.map(({ engine, podHours, podsMax, waitP50, waitP95, handedOver }) => [
      ...[engine, podHours.toFixed(1), String(podsMax), time(waitP50), time(waitP95), String(handedOver)],
    ]),
  ]);
}

export function printComparison({ wait, end_to_end, utilisation }: Comparison): void {
  const row = (name: string, { mean, p50, p90, p95 }: Distribution): string[] => [
    name,
    ...[mean, p50, p90, p95].map(time),
  ];
  const deviation = (name: string, of: Distribution, from: Distribution): string[] => [
    name,
    ...(['mean', 'p50', 'p90', 'p95'] as const).map((part) => {
      const percent = Math.round((of[part] / from[part] - 1) * 100);
      return Number.isFinite(percent) ? `${percent >= 0 ? '+' : ''}${percent} %` : '–';
    }),
  ];
  for (const [title, each] of [
    ['Wait of engine jobs', wait],
    ['Created to completed', end_to_end],
  ] as const) {
    console.log(`\n${title}`);
    table([
      ['', 'mean', 'p50', 'p90', 'p95'],
      row('measured', each.measured),
      row('simulated, measured times', each.replayed),
      deviation('  deviation', each.replayed, each.measured),
      row('simulated, fitted model', each.modelled),
      deviation('  deviation', each.modelled, each.measured),
    ]);
  }
  console.log(`\nThe engine slots were busy for ${share(utilisation)} of the run.`);
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
