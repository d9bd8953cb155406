import { ramp } from './shapes';

/** The pose of the head in one picture. */
export interface Pose {
  /** Shift of the head's origin in head units. */
  readonly x: number;
  readonly y: number;
  /** Radians, clockwise. */
  readonly roll: number;
  /** Turn and nod: how far a point of height 1 moves, in head units. */
  readonly turn: number;
  readonly nod: number;
  /** 0 open … 1 closed. */
  readonly eyesClosed: number;
}

/** Seconds at which a blink begins. */
const BLINKS = [1.1, 3.4, 5.2];

/** A listener: small unhurried movements, a few blinks. The mouth stays closed. */
export function headPose(seconds: number): Pose {
  const wave = (period: number, phase: number): number => Math.sin((2 * Math.PI * seconds) / period + phase);
  return {
    x: 0.05 * wave(5.3, 0.4) + 0.015 * wave(2.1, 1.0),
    y: 0.03 * wave(4.1, 2.0) + 0.012 * wave(1.7, 0.3),
    roll: 0.035 * wave(6.2, 0.9) + 0.01 * wave(2.7, 2.2),
    turn: 0.05 * wave(4.6, 1.7),
    nod: 0.03 * wave(3.4, 0.1),
    eyesClosed: Math.max(...BLINKS.map((start) => blink(seconds - start))),
  };
}

/** Lids fall in 80 ms and rise in 160 ms. */
const blink = (since: number): number => ramp(0, 0.08, since) * ramp(0.28, 0.12, since);
