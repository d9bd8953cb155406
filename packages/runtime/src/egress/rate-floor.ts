import { EgressError } from './egress-error';

/** The slowest transfer that is worth a slot. */
export interface RateFloor {
  bytesPerSecond: number;
  windowMs: number;
}

export const DEFAULT_RATE_FLOOR: RateFloor = { bytesPerSecond: 64 * 1024, windowMs: 15_000 };

/** Watches one transfer: `received` counts bytes, `stop` ends the watch. */
export interface RateWatch {
  received(bytes: number): void;
  stop(): void;
}

/**
 * Aborts with `too_slow` if a whole window passes below the floor, so that a slow trickle cannot hold a slot until the
 * deadline.
 */
export function watchRate(floor: RateFloor, controller: AbortController): RateWatch {
  let inWindow = 0;
  const needed = (floor.bytesPerSecond * floor.windowMs) / 1000;
  const timer = setInterval(() => {
    if (inWindow < needed) controller.abort(new EgressError('too_slow'));
    inWindow = 0;
  }, floor.windowMs);
  return {
    received: (bytes) => {
      inWindow += bytes;
    },
    stop: () => clearInterval(timer),
  };
}
