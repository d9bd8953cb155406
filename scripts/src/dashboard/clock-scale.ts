import { evenScale, type Scale } from '../charts/scale';
import { evenTicks } from '../charts/ticks';
import { timeStep } from '../charts/time-step';
import { type TimeRange } from './time-range';

const DAY = 86_400;

/** A time scale with about `wanted` ticks at round times (UTC). */
export function clockScale({ from, to }: TimeRange, wanted: number): Scale {
  const step = timeStep((to - from) / wanted);
  const label = (at: number): string => {
    const iso = new Date(at * 1000).toISOString();
    return step >= DAY ? iso.slice(5, 10) : iso.slice(11, step < 60 ? 19 : 16);
  };
  return evenScale(from, to, evenTicks(step, from, to, label));
}
