import { type Clock } from '../callers/open-loop';
import { type TrackedRender } from './ledger';

export interface PollerOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Limit over all renders: with many open ones each is polled less often. */
  readonly pollsPerSecond: number;
  readonly concurrency: number;
  /**
   * Fetches the render once and has the response observed. Returns the milliseconds to wait if the response asked for a
   * pause.
   */
  readonly poll: (render: TrackedRender) => Promise<number>;
}

/** How long to sleep when nothing is due. */
const IDLE_MS = 50;
const MAX_PAUSE_MS = 5_000;

/** Polls every open render at an interval until it has ended, like a caller without webhooks. */
export function startPoller(options: PollerOptions) {
  const { clock, intervalMs, pollsPerSecond, concurrency, poll } = options;
  const stopped = new AbortController();
  // All wait for about the interval, so the first in the queue is due first.
  const queue: { readonly render: TrackedRender; readonly at: number }[] = [];
  let nextPollAt = clock.now();

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      const due = queue.shift();
      if (due === undefined) {
        await clock.until(clock.now() + IDLE_MS, stopped.signal);
        continue;
      }
      const { render } = due;
      if (render.end !== null) continue;
      await clock.until(due.at, stopped.signal);
      const turn = Math.max(nextPollAt, clock.now());
      nextPollAt = turn + 1000 / pollsPerSecond;
      await clock.until(turn, stopped.signal);
      if (render.end !== null || stopped.signal.aborted) continue;
      // A pause is bounded, because those behind it in the queue wait as well.
      const pauseMs = Math.max(intervalMs, Math.min(await poll(render), MAX_PAUSE_MS));
      if (render.end === null) queue.push({ render, at: clock.now() + pauseMs });
    }
  }
  const loops = Array.from({ length: concurrency }, run);

  return {
    watch: (render: TrackedRender): void => void queue.push({ render, at: clock.now() + intervalMs }),
    /** Stops polling. Returns once the polls in progress have been answered. */
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.all(loops);
    },
  };
}

export type Poller = ReturnType<typeof startPoller>;
