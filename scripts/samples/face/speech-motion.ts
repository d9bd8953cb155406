import { MOUTH_HALF_WIDTH, type MouthPose } from './mouth-shape';
import { mix } from './shapes';

export interface Sound {
  readonly ipa: string;
  readonly start: number;
  readonly end: number;
}

/** jaw, rounding (negative: spread). */
const TABLE: Readonly<Record<string, readonly [number, number]>> = {
  i: [0.25, -0.9],
  ɪ: [0.3, -0.5],
  u: [0.22, 1],
  ʊ: [0.3, 0.7],
  e: [0.45, -0.7],
  o: [0.45, 0.8],
  ə: [0.4, 0],
  ɐ: [0.65, 0],
  ɛ: [0.6, -0.5],
  ʌ: [0.65, 0],
  ɔ: [0.6, 0.5],
  æ: [0.85, -0.4],
  a: [1, -0.15],
  ɑ: [1, 0],
  w: [0.2, 1],
  l: [0.35, -0.1],
  ɹ: [0.3, 0.4],
  j: [0.25, -0.5],
  s: [0.15, -0.3],
  z: [0.15, -0.3],
  ʃ: [0.2, 0.6],
  t: [0.2, 0],
  d: [0.2, 0],
  n: [0.25, 0],
  k: [0.3, 0],
  ɡ: [0.3, 0],
  ŋ: [0.3, 0],
  h: [0.4, 0],
  ð: [0.25, 0],
  m: [0.1, 0],
  p: [0.1, 0],
  b: [0.1, 0],
  f: [0.15, -0.1],
  v: [0.15, -0.1],
};
const LEAD = 0.04;
const hann = (offset: number, half: number): number => {
  const x = Math.min(1, Math.max(-1, offset / half));
  return (1 + x + Math.sin(Math.PI * x) / Math.PI) / 2;
};

export function speechMotion(sounds: readonly Sound[]): (seconds: number) => MouthPose {
  const targets = sounds.flatMap(({ ipa, start, end }) => {
    const letters = [...ipa].filter((letter) => letter in TABLE);
    const share = (end - start) / letters.length;
    return letters.map((letter, i) => ({ letter, start: start + i * share, end: start + (i + 1) * share }));
  });
  return (seconds) => {
    const at = seconds + LEAD;
    let [jaw, round, closed, dental, talk] = [0, 0, 0, 0, 0];
    for (const { letter, start, end } of targets) {
      const [j, r] = TABLE[letter] ?? [0, 0];
      const near = hann(end - at, 0.075) - hann(start - at, 0.075);
      jaw += j * near;
      talk += near;
      round += r * (hann(end - at, 0.11) - hann(start - at, 0.11));
      const middle = (start + end) / 2;
      const held = Math.max(0, Math.min(1, (0.095 - Math.abs(at - middle)) / 0.05));
      if ('mpb'.includes(letter)) closed = Math.max(closed, held);
      if ('fv'.includes(letter)) dental = Math.max(dental, held);
    }
    const open = 1 - closed;
    return {
      jaw: 0.15 * jaw * (1 - 0.4 * closed),
      drop: open * mix(0.02 * talk + 0.17 * jaw, 0.015, dental) - 0.004 * closed,
      lift: open * mix(0.012 * talk + 0.02 * jaw + 0.012 * Math.max(0, -round), 0.045, dental),
      halfWidth: MOUTH_HALF_WIDTH + (round > 0 ? -0.11 : -0.055) * round - 0.02 * jaw,
      fullness: 1 + (round > 0 ? 0.2 : 0.08) * round - 0.1 * closed - 0.08 * dental,
    };
  };
}
