import { roundStep } from '../charts/round-step';
import { evenScale, type Scale } from '../charts/scale';
import { evenTicks } from '../charts/ticks';
import { formatValue } from './format-value';

const ROWS = 4;

/** A scale from one value to another with round values in between. */
export function valueScale(low: number, high: number, unit: string): Scale {
  // Bytes are rounded to powers of 1024.
  const one = unit === 'bytes' ? 1024 ** Math.floor(Math.log(Math.max(1, high)) / Math.log(1024)) : 1;
  const step = roundStep((high - low) / one / ROWS) * one;
  const ticks = evenTicks(step, low, high, (value) => formatValue(value, unit));
  return evenScale(low, high, ticks);
}
