import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock } from './clock';
import { type InFlight } from './in-flight';

export interface Arrival {
  /** When the caller arrives, on the clock; latency is counted from here, however late it is sent. */
  readonly intendedAt: number;
}

export interface OpenLoopOptions {
  readonly clock: Clock;
  readonly startAt: number;
  /** Milliseconds from `startAt`, ascending. */
  readonly schedule: Iterable<number>;
  /** Shared by all loops of a run. An arrival beyond its limit is not sent. */
  readonly inFlight: InFlight;
  readonly signal: AbortSignal;
  /** Does what this caller came for. A refusal by the service must not reject: a rejection ends the run. */
  readonly serve: (arrival: Arrival) => Promise<void>;
  readonly onSent: (arrival: Arrival, lagMs: number) => void;
  readonly onNotSent: (arrival: Arrival) => void;
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
    const arrival = { intendedAt: Math.min(dueAt, clock.now()) };
    if (!inFlight.enter()) {
      onNotSent(arrival);
      continue;
    }
    own++;
    onSent(arrival, Math.max(0, clock.now() - arrival.intendedAt));
    void serve(arrival)
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
