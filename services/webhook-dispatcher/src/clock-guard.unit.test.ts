import { createLogger } from '@lipsync/runtime';
import { createClockGuard } from './clock-guard';

const logger = createLogger({ service: 'test', level: 'silent' });
const DATABASE_MS = 1_700_000_000_000;

function guardWith(skewMs: number) {
  const state = { localMs: DATABASE_MS + skewMs, reads: 0 };
  const guard = createClockGuard({
    clock: { now: () => state.localMs },
    databaseNow: () => {
      state.reads++;
      return Promise.resolve(new Date(DATABASE_MS));
    },
    logger,
  });
  return { state, guard };
}

describe('clock guard', () => {
  it.each([0, 60_000, -60_000])('trusts a clock that is %i ms off', async (skewMs) => {
    expect(await guardWith(skewMs).guard.isTrustworthy()).toBe(true);
  });

  it.each([60_001, -60_001, 600_000])('does not trust a clock that is %i ms off', async (skewMs) => {
    expect(await guardWith(skewMs).guard.isTrustworthy()).toBe(false);
  });

  it('does not take a slow answer of the database for a wrong clock', async () => {
    let localMs = DATABASE_MS - 70_000;
    const databaseNow = (): Promise<Date> => {
      localMs += 140_000;
      return Promise.resolve(new Date(DATABASE_MS));
    };
    const guard = createClockGuard({ clock: { now: () => localMs }, databaseNow, logger });
    expect(await guard.isTrustworthy()).toBe(true);
  });

  it('asks the database at most every five seconds, and again when the clock was set back', async () => {
    const { state, guard } = guardWith(0);
    await guard.isTrustworthy();
    state.localMs += 4_999;
    await guard.isTrustworthy();
    expect(state.reads).toBe(1);
    state.localMs += 1;
    await guard.isTrustworthy();
    expect(state.reads).toBe(2);
    state.localMs -= 3_600_000;
    expect(await guard.isTrustworthy()).toBe(false);
  });
});
