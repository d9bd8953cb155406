import { type Clock, type Logger } from '@lipsync/runtime';

/** Whether this machine's clock may be used to date signatures. */
export interface ClockGuard {
  /** Compares the clock with the database's at most every few seconds; throws when the database does not answer. */
  isTrustworthy(): Promise<boolean>;
}

/** Receivers refuse signatures that are five minutes off; a clock this wrong is well on its way there. */
const SKEW_MAX_MS = 60_000;
const CHECK_EVERY_MS = 5_000;

/** Watches the difference between the local clock and the database's (`databaseNow`). */
export function createClockGuard(options: {
  clock: Clock;
  databaseNow: () => Promise<Date>;
  logger: Logger;
}): ClockGuard {
  const { clock, databaseNow, logger } = options;
  let checkedAtMs = -Infinity;
  let trustworthy = false;
  return {
    isTrustworthy: async () => {
      const startedAtMs = clock.now();
      // After the clock was set back, the last check lies in the future: check again.
      if (startedAtMs >= checkedAtMs && startedAtMs - checkedAtMs < CHECK_EVERY_MS) return trustworthy;
      const databaseMs = (await databaseNow()).getTime();
      const endedAtMs = clock.now();
      const skewMs = (startedAtMs + endedAtMs) / 2 - databaseMs;
      trustworthy = Math.abs(skewMs) <= SKEW_MAX_MS;
      checkedAtMs = endedAtMs;
      if (!trustworthy) logger.error('the clock is off, nothing is signed', { skew_ms: skewMs });
      return trustworthy;
    },
  };
}
