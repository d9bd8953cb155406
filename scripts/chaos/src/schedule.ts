import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '@lipsync/local-stack';
import { FAULT_NAMES, type FaultContext, type FaultName, FAULTS, laneOf, LANES } from './faults';

interface PlannedFault {
  name: FaultName;
  /** Milliseconds from the start of the faults. */
  startMs: number;
  lengthMs: number;
  /** In [0, 1): selects the victim and the occurrence. */
  draw: number;
}

/** Seconds between two faults of a lane, from and to. */
const GAPS = { process: [4, 9], backend: [6, 14] } as const;

/** The faults of a run: the same seed and length give the same plan. Every fault comes once before one comes again. */
export function planFaults(
  seed: number,
  minutes: number,
  names: readonly FaultName[] = FAULT_NAMES,
): PlannedFault[] {
  return LANES.flatMap((lane) => {
    const random = createRandom(seed, `faults of ${lane}`);
    const between = ([from, to]: readonly [number, number]): number => 1000 * (from + random() * (to - from));
    const ours = names.filter((name) => laneOf(name) === lane);
    const plan: PlannedFault[] = [];
    let deck: FaultName[] = [];
    for (let at = between([2, 5]); ours.length > 0 && at < minutes * 60_000; at += between(GAPS[lane])) {
      if (deck.length === 0) deck = shuffled(ours, random);
      const name = deck.pop() as FaultName;
      const { seconds } = FAULTS[name];
      const lengthMs = seconds === undefined ? 0 : between(seconds);
      plan.push({ name, startMs: at, lengthMs, draw: random() });
      at += lengthMs;
    }
    return plan;
  });
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Carries the plan out, each lane on its own; what takes longer than planned delays the rest of its lane. */
export async function runFaults(
  plan: readonly PlannedFault[],
  context: Omit<FaultContext, 'draw' | 'began'>,
): Promise<void> {
  const { history, stop } = context;
  const startedAt = Date.now();
  const wait = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: stop }).catch(() => undefined);
  const carryOut = async ({ name, startMs, lengthMs, draw }: PlannedFault): Promise<void> => {
    await wait(Math.max(0, startMs - (Date.now() - startedAt)));
    if (stop.aborted) return;
    let target = '';
    const began: FaultContext['began'] = (what, held) => {
      target = what;
      history.add({ kind: 'fault', name, target, phase: 'begin', ...(held === undefined ? {} : { held }) });
    };
    try {
      const end = await FAULTS[name].begin({ ...context, draw, began });
      await wait(lengthMs);
      await end?.();
      history.add({ kind: 'fault', name, target, phase: 'end' });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      history.add({ kind: 'fault', name, target, phase: 'skipped', why });
    }
  };
  const lanes = LANES.map(async (lane) => {
    for (const fault of plan) if (laneOf(fault.name) === lane) await carryOut(fault);
  });
  await Promise.all(lanes);
}
