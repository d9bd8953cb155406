import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type Random } from '@lipsync/local-stack';

export type ArrivalPlan =
  /** Independent callers: a Poisson process. With a burst size, that many arrive together, at the same overall rate. */
  | {
      readonly kind: 'poisson';
      readonly ratePerSecond: number;
      readonly burstSize: number;
      readonly durationSeconds: number;
    }
  /** All at the beginning: a backlog to work off. */
  | { readonly kind: 'at-once'; readonly count: number };

/**
 * Arrival times of callers, in milliseconds from the beginning. They depend only on the plan and the random numbers:
 * nothing that the service does moves them. They are generated one by one, so a schedule of days takes no memory.
 */
export function* arrivalSchedule(plan: ArrivalPlan, random: Random): Generator<number, void, undefined> {
  if (plan.kind === 'at-once') {
    for (let i = 0; i < plan.count; i++) yield 0;
    return;
  }
  const { ratePerSecond, burstSize, durationSeconds } = plan;
  const meanGapMs = (1000 * burstSize) / ratePerSecond;
  // The gaps of a Poisson process are exponential; 1 - random() is never 0.
  let at = -Math.log(1 - random()) * meanGapMs;
  while (at < durationSeconds * 1000) {
    for (let i = 0; i < burstSize; i++) yield at;
    at += -Math.log(1 - random()) * meanGapMs;
  }
}

/** How many callers arrive together. */
export function batchOf(plan: ArrivalPlan): number {
  return plan.kind === 'poisson' ? plan.burstSize : plan.count;
}

/** How many arrivals per second a plan offers over `durationSeconds`. */
export function offeredRate(plan: ArrivalPlan, durationSeconds: number): number {
  return plan.kind === 'poisson' ? plan.ratePerSecond : plan.count / durationSeconds;
}

export interface OpenLoopOptions {
  readonly clock: Clock;
  readonly startAt: number;
  /** Milliseconds from `startAt`, ascending. */
  readonly schedule: Iterable<number>;
  /** Shared by all loops of a run. An arrival beyond its limit is not sent. */
  readonly inFlight: InFlight;
  readonly signal: AbortSignal;
  /**
   * Does what this caller came for, who arrives at `intendedAt` on the clock; latency is counted from there, however
   * late it is sent. A refusal by the service must not reject: a rejection ends the run.
   */
  readonly serve: (intendedAt: number) => Promise<void>;
  readonly onSent: (intendedAt: number, lagMs: number) => void;
  readonly onNotSent: (intendedAt: number) => void;
}

/** Late arrivals are sent in one go; after this many, responses to others get their turn. */
const SENT_PER_TURN = 64;

/**
 * Sends arrivals when they are due, whether or not earlier ones have been answered. A closed loop would wait for a slow
 * service and so leave out the very requests that the service keeps waiting (coordinated omission).
 */
export async function runOpenLoop(options: OpenLoopOptions): Promise<void> {
  const { clock, startAt, schedule, inFlight, signal, serve, onSent, onNotSent } = options;
  let own = 0;
  let sentThisTurn = 0;
  let wake: (() => void) | undefined;
  let broken: { error: unknown } | undefined;
  for (const offset of schedule) {
    const dueAt = startAt + offset;
    if (dueAt > clock.now()) {
      sentThisTurn = 0;
      await clock.until(dueAt, signal);
    } else if (++sentThisTurn % SENT_PER_TURN === 0) {
      await nextTurn();
    }
    if (signal.aborted || broken !== undefined) break;
    // Timers may fire a fraction of a millisecond early, but no caller may be answered before it has arrived.
    const intendedAt = Math.min(dueAt, clock.now());
    if (!inFlight.enter()) {
      onNotSent(intendedAt);
      continue;
    }
    own++;
    onSent(intendedAt, Math.max(0, clock.now() - intendedAt));
    void serve(intendedAt)
      .catch((error: unknown) => {
        broken ??= { error };
      })
      .finally(() => {
        inFlight.leave();
        if (--own === 0) wake?.();
      });
  }
  if (own > 0)
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  if (broken !== undefined) throw broken.error;
}

/** The callers in progress, over all streams that share it; it limits the generator's memory. */
export function createInFlight(max: number) {
  let current = 0;
  let peak = 0;
  return {
    /** Admits one more caller; false when the maximum is reached. Every admitted caller must leave once. */
    enter(): boolean {
      if (current >= max) return false;
      current++;
      peak = Math.max(peak, current);
      return true;
    },
    leave: (): void => void current--,
    get current() {
      return current;
    },
    /** The largest number of callers at once. */
    get peak() {
      return peak;
    },
  };
}

type InFlight = ReturnType<typeof createInFlight>;

/** A monotonic clock in milliseconds that can be waited on. */
export interface Clock {
  now(): number;
  /** Waits until `at`, or not at all when it has passed; ends early, without an error, when the signal aborts. */
  until(at: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  async until(at, signal) {
    const wait = at - performance.now();
    if (wait <= 0) return;
    await delay(wait, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  },
};
