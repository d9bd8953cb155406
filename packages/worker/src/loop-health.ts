import { type PeriodicLoop } from './periodic-loop';

/** Far longer than any turn takes, including the timeouts of the database and the store. */
const HANGS_AFTER_MS = 120_000;

/**
 * A liveness check. Fails if a turn of a loop has been under way for two minutes. The pause between turns does not
 * matter.
 */
export function noTurnHangs(loops: readonly Pick<PeriodicLoop, 'busyMs'>[]): () => Promise<void> {
  return async () => {
    if (loops.some((loop) => loop.busyMs() > HANGS_AFTER_MS)) throw new Error('a loop is stuck');
  };
}
