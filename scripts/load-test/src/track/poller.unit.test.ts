import { endedRender, trackedRender } from '../test/observations';
import { createVirtualClock } from '../test/virtual-clock';
import { type TrackedRender } from './ledger';
import { type PollerOptions, startPoller } from './poller';

const render = (id: string): TrackedRender => trackedRender({ id });

/** Polls these renders for this long; each ends with its `pollsToEnd`-th poll. */
async function pollsDuring(
  durationMs: number,
  renders: readonly TrackedRender[],
  over: Partial<PollerOptions> & { pollsToEnd?: number; retryAfterMs?: number },
): Promise<{ id: string; at: number }[]> {
  const clock = createVirtualClock();
  const polls: { id: string; at: number }[] = [];
  const poller = startPoller({
    clock,
    intervalMs: 1_000,
    pollsPerSecond: 1_000,
    concurrency: 2,
    poll: async (polled) => {
      polls.push({ id: polled.id, at: clock.now() });
      const count = polls.filter(({ id }) => id === polled.id).length;
      if (count === over.pollsToEnd) polled.end = endedRender().end;
      return over.retryAfterMs ?? 0;
    },
    ...over,
  });
  for (const watched of renders) poller.watch(watched);
  await clock.run(clock.until(durationMs));
  await clock.run(poller.stop());
  return polls;
}

describe('startPoller', () => {
  it('polls a render at the interval until it has ended', async () => {
    const polls = await pollsDuring(10_000, [render('a')], { pollsToEnd: 3 });
    expect(polls).toHaveLength(3);
    const gaps = polls.map(({ at }, i) => at - (polls[i - 1]?.at ?? 0));
    for (const gap of gaps) expect(Math.abs(gap - 1_000)).toBeLessThanOrEqual(100);
  });

  it('does not poll one that has already ended', async () => {
    const ended = endedRender({}, { id: 'a' });
    expect(await pollsDuring(5_000, [ended], {})).toEqual([]);
  });

  it('stays within the limit for all renders together', async () => {
    const renders = Array.from({ length: 50 }, (_, i) => render(String(i)));
    const polls = await pollsDuring(11_000, renders, { pollsPerSecond: 5 });
    expect(polls.length).toBeLessThanOrEqual(51);
    expect(polls.length).toBeGreaterThanOrEqual(45);
    expect(new Set(polls.map(({ id }) => id)).size).toBe(polls.length);
  });

  it('waits as long as the response asks', async () => {
    const polls = await pollsDuring(10_000, [render('a')], { retryAfterMs: 4_000 });
    expect(polls.map(({ at }) => Math.round(at / 1_000))).toEqual([1, 5, 9]);
  });
});
