import { roundStep } from './round-step';
import { evenTicks, type Tick } from './ticks';
import { timeStep } from './time-step';

/** Maps values to 0 … 1 along an axis. */
export interface Scale {
  readonly ticks: readonly Tick[];
  position(value: number): number;
}

/** A linear scale from one value to another; values outside are drawn outside. */
export function evenScale(low: number, high: number, ticks: readonly Tick[]): Scale {
  return { ticks, position: (value) => (value - low) / (high - low) };
}

/** From 0 to a round number that is at least `highest`. */
export function linearScale(highest: number, label: (value: number) => string, wanted = 5): Scale {
  const step = roundStep(Math.max(highest, Number.MIN_VALUE) / wanted);
  const top = Math.max(1, Math.ceil(highest / step - 1e-9)) * step;
  return { ticks: evenTicks(step, 0, top, label), position: (value) => clamp(value / top) };
}

/** Exactly 0 to `highest` seconds: an axis of time ends when the run does. */
export function timeScale(highest: number, label: (seconds: number) => string, wanted = 8): Scale {
  const step = timeStep(highest / wanted);
  return { ticks: evenTicks(step, 0, highest, label), position: (value) => clamp(value / highest) };
}

/** Whole decades around the values, with lines at 2 and 5 in between. Values must be above 0. */
export function logScale(lowest: number, highest: number, label: (value: number) => string): Scale {
  const from = Math.floor(Math.log10(lowest) + 1e-9);
  const to = Math.max(from + 1, Math.ceil(Math.log10(highest) - 1e-9));
  const few = to - from <= 2;
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i)).flatMap(
    (decade, i): Tick[] => [
      { value: decade, label: label(decade) },
      ...(i === to - from
        ? []
        : [2, 5].map((factor) => ({
            value: factor * decade,
            label: few ? label(factor * decade) : '',
            minor: true,
          }))),
    ],
  );
  return {
    ticks,
    position: (value) => clamp((Math.log10(Math.max(value, 10 ** from)) - from) / (to - from)),
  };
}

/**
 * Shares from 0 to `highestShare`, with equal distance for each additional nine: this gives the rare slow ones room.
 */
export function ninesScale(highestShare: number): Scale {
  const nines = Math.max(1, -Math.log10(Math.max(1 - highestShare, 1e-6)));
  const shares = [
    ...[0, 0.5],
    ...Array.from({ length: Math.floor(nines + 1e-9) }, (_, i) => 1 - 10 ** -(i + 1)),
  ];
  return {
    ticks: shares.map((value) => ({ value, label: `${Number((value * 100).toPrecision(8))} %` })),
    position: (value) => clamp(-Math.log10(Math.max(1 - value, 10 ** -nines)) / nines),
  };
}

function clamp(position: number): number {
  return Math.min(1, Math.max(0, position));
}
