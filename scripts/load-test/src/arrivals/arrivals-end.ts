import { type Clock } from './clock';

/** When the arrivals end: as planned, or earlier when the signal stops them. Always correct for the past. */
export function arrivalsEnd(clock: Clock, plannedAt: number, signal: AbortSignal): () => number {
  let endAt = plannedAt;
  const end = (): void => {
    endAt = Math.min(endAt, clock.now());
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return () => endAt;
}
