import { type PeriodicLoop } from './periodic-loop';

/** Far above what any turn takes, deadlines of the database and the store included. */
const HANGS_AFTER_MS = 120_000;

/**
 * A liveness check: fails when a turn of a loop has been under way for two minutes. How long a loop rests between turns
 * does not matter.
 */
export function noTurnHangs(loops: readonly Pick<PeriodicLoop, 'busyMs'>[]): () => Promise<void> {
  return async () => {
    if (loops.some((loop) => loop.busyMs() > HANGS_AFTER_MS)) throw new Error('a loop is stuck');
  };
}
