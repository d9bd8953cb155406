import { type FaultName, FAULTS, laneOf, type Recovery } from './faults';
import type { Entry, FaultEntry } from './history';
import type { InvariantName } from './invariants';
import type { Change } from './observe';

interface MeasuredRecovery {
  fault: string;
  what: Recovery;
  seconds: number;
  /** No fault of the backends overlapped with it. */
  isUndisturbed: boolean;
}

export interface ChaosReport {
  seed: number;
  minutes: number;
  mutant: string | null;
  caughtBy: InvariantName | null;
  /** By invariant; empty when all hold. */
  violations: Partial<Record<InvariantName, readonly unknown[]>>;
  /** Null: what was accepted had not ended in time, though somebody was still working on it. */
  drainSeconds: number | null;
  faults: FaultEntry[];
  recoveries: MeasuredRecovery[];
  counts: Record<string, number>;
}

/** What the service promises, in seconds. A worker that is stopped in a transaction keeps its locks for half a minute. */
const BOUNDS: Readonly<Record<Recovery, number>> = {
  'claimed again': 20,
  'taken over': 50,
  'next claim': 15,
  'next create': 5,
  'next delivery': 30,
};

/** How long each fault took to be overcome, as far as the load came to show it. */
export function recoveriesOf(entries: readonly Entry[], changes: readonly Change[]): MeasuredRecovery[] {
  const isClaim = ({ tbl, now, was }: Change): boolean =>
    tbl === 'jobs' && now['status'] === 'running' && now['fence'] !== was?.['fence'];
  const isDelivery = ({ tbl, now }: Change): boolean =>
    tbl === 'webhook_deliveries' && now['status'] === 'delivered';
  const claims = changes.filter(isClaim);
  const atOf = ({ at }: { at: number }): number => at;
  const signs = {
    'next claim': claims.map(atOf),
    'next create': entries.flatMap((entry) =>
      entry.kind === 'call' && /^create_/.test(entry.op) && (entry.status ?? 500) < 300
        ? [entry.answeredAt]
        : [],
    ),
    'next delivery': changes.filter(isDelivery).map(atOf),
  };
  const faults = entries.filter((entry) => entry.kind === 'fault');
  const spans = faults.flatMap((begin, index) => {
    const end = faults.slice(index + 1).find(({ name }) => name === begin.name);
    return begin.phase === 'begin' && end?.phase === 'end' ? [{ ...begin, endAt: end.at }] : [];
  });
  return spans.flatMap((span) => {
    const { recovery: what } = FAULTS[span.name as FaultName];
    if (what === undefined) return [];
    const waits =
      what === 'claimed again' || what === 'taken over'
        ? (span.held ?? []).map(({ id, fence }) => ({
            from: span.at,
            times: claims.filter((claim) => claim.id === id && claim.now['fence'] === fence + 1).map(atOf),
          }))
        : [{ from: span.endAt, times: signs[what] }];
    return waits.flatMap(({ from, times }): MeasuredRecovery[] => {
      const until = times.find((time) => time > from);
      if (until === undefined) return [];
      const isDisturbed = spans.some(
        (other) =>
          other !== span &&
          laneOf(other.name as FaultName) === 'backend' &&
          other.at < until &&
          other.endAt > from,
      );
      return [{ fault: span.name, what, seconds: (until - from) / 1000, isUndisturbed: !isDisturbed }];
    });
  });
}

/** The verdict, in one word. A mutant is judged by whether its invariant failed. */
export function verdictOf({ mutant, caughtBy, violations, drainSeconds }: ChaosReport): string {
  const broken = Object.keys(violations);
  if (mutant !== null) return broken.includes(caughtBy ?? '') ? 'caught' : 'NOT CAUGHT';
  if (broken.length > 0) return 'VIOLATED';
  return drainSeconds === null ? 'TOO SLOW' : 'held';
}

/** For people: faults, recoveries, invariants, verdict. */
export function describeRun(report: ChaosReport): string[] {
  const { seed, faults, recoveries, violations, counts, drainSeconds, mutant, caughtBy } = report;
  const skipped = faults.filter(({ phase }) => phase === 'skipped');
  const done = faults.filter(({ phase }) => phase === 'end');
  return [
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', '),
    `faults ${done.length}: ${[...new Set(done.map(({ name }) => name))].join(', ')}`,
    ...skipped.map(({ name, why }) => `could not be done: ${name} (${why})`),
    `ended ${drainSeconds === null ? 'not in time' : `${drainSeconds.toFixed(0)} s after the last fault`}`,
    ...recoveryTable(recoveries),
    ...Object.entries(violations).flatMap(([name, found]) => [
      `VIOLATED ${name}: ${found.length}`,
      ...found.slice(0, 5).map((one) => `    ${JSON.stringify(one).slice(0, 400)}`),
    ]),
    `seed ${seed}${mutant === null ? '' : `, ${mutant} (by: ${caughtBy})`}: ${verdictOf(report)}`,
  ];
}

/** The undisturbed recoveries: their number, p50, p99 and maximum beside what is promised. */
export function recoveryTable(recoveries: readonly MeasuredRecovery[]): string[] {
  return (Object.entries(BOUNDS) as [Recovery, number][]).flatMap(([what, bound]) => {
    const sorted = recoveries
      .filter((one) => one.what === what && one.isUndisturbed)
      .map(({ seconds }) => seconds)
      .sort((a, b) => a - b);
    if (sorted.length === 0) return [];
    const at = (share: number): string =>
      (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1).padStart(6);
    return [
      `${what.padEnd(14)} n ${String(sorted.length).padStart(3)}  p50 ${at(0.5)}  p99 ${at(0.99)}  max ${at(1)}  promised ${bound} s`,
    ];
  });
}
