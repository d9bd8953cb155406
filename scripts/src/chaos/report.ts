import { type FaultName, FAULTS, type Recovery } from './faults';
import type { Call, Entry, FaultEntry } from './history';
import type { InvariantName } from './invariants';
import type { Change } from './observe';

export interface MeasuredRecovery {
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
  const faults = entries.filter((entry) => entry.kind === 'fault');
  const creates = entries.filter(
    (entry): entry is Call =>
      entry.kind === 'call' && entry.op.startsWith('create_') && entry.status !== null && entry.status < 300,
  );
  const claims = changes.filter(
    ({ tbl, now, was }) => tbl === 'jobs' && now['status'] === 'running' && now['fence'] !== was?.['fence'],
  );
  const deliveries = changes.filter(
    ({ tbl, now }) => tbl === 'webhook_deliveries' && now['status'] === 'delivered',
  );
  const spans = faults.flatMap((begin, index) => {
    if (begin.phase !== 'begin') return [];
    const end = faults.slice(index + 1).find(({ name, phase }) => name === begin.name && phase !== 'begin');
    return end?.phase === 'end' ? [{ ...begin, endAt: end.at, fault: FAULTS[begin.name as FaultName] }] : [];
  });
  const firstAfter = (at: number, times: readonly number[]): number[] => {
    const next = times.find((time) => time > at);
    return next === undefined ? [] : [next - at];
  };
  return spans.flatMap(({ name, at, endAt, held = [], fault }) => {
    const what = fault.recovery;
    const reclaims = (): number[] =>
      held.flatMap(({ id, fence }) => {
        const again = claims.filter((claim) => claim.id === id && claim.now['fence'] === fence + 1);
        return firstAfter(
          at,
          again.map((claim) => claim.at),
        );
      });
    const took: Record<Recovery, () => number[]> = {
      'claimed again': reclaims,
      'taken over': reclaims,
      'next claim': () =>
        firstAfter(
          endAt,
          claims.map((claim) => claim.at),
        ),
      'next create': () =>
        firstAfter(
          endAt,
          creates.map(({ answeredAt }) => answeredAt),
        ),
      'next delivery': () =>
        firstAfter(
          endAt,
          deliveries.map((delivery) => delivery.at),
        ),
    };
    if (what === undefined) return [];
    const from = held.length > 0 ? at : endAt;
    return took[what]().map((ms) => ({
      ...{ fault: name, what, seconds: ms / 1000 },
      isUndisturbed: !spans.some(
        (other) =>
          other.fault.lane === 'backend' && other.at !== at && other.at < from + ms && other.endAt > from,
      ),
    }));
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

/** Of undisturbed recoveries: how many, p50, p99, max, against what is promised. */
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
