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

interface Due {
  readonly render: TrackedRender;
  readonly at: number;
}

/** How long to sleep when nothing is due. */
const IDLE_MS = 50;
const MAX_PAUSE_MS = 5_000;

/** Polls every open render at an interval until it has ended, like a caller without webhooks. */
export function startPoller(options: PollerOptions) {
  const { clock, intervalMs, pollsPerSecond, concurrency, poll } = options;
  const stopped = new AbortController();
  // All wait for about the interval, so the first in the queue is due first.
  let queue: Due[] = [];
  let head = 0;
  let nextPollAt = clock.now();

  function take(): Due | undefined {
    const due = queue[head];
    if (due === undefined) return undefined;
    head++;
    if (head > 1024 && head * 2 > queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    return due;
  }

  /** Bounded, because those behind it in the queue wait as well. */
  const pauseMs = (waitMs: number): number => Math.max(intervalMs, Math.min(waitMs, MAX_PAUSE_MS));

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      const due = take();
      if (due === undefined) {
        await clock.until(clock.now() + IDLE_MS, stopped.signal);
        continue;
      }
      if (due.render.end !== null) continue;
      await clock.until(due.at, stopped.signal);
      const turn = Math.max(nextPollAt, clock.now());
      nextPollAt = turn + 1000 / pollsPerSecond;
      await clock.until(turn, stopped.signal);
      if (due.render.end !== null || stopped.signal.aborted) continue;
      const waitMs = await poll(due.render);
      if (due.render.end === null) queue.push({ render: due.render, at: clock.now() + pauseMs(waitMs) });
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
