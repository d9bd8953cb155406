import { type PictureFormat } from '../../picture';

/*
 * The curves by which colors of ten bits appear in SDR, by their definitions: ITU-R BT.2100 for PQ and HLG. Level 1 is
 * diffuse white (203 cd/m²), 1000 cd/m² are the brightest that a network can draw.
 */

const PEAK = (1000 / 203) ** (1 / 2.4);

export function levelOf({ transfer }: PictureFormat, signal: number): number {
  if (transfer === 'sdr' || signal < 0) return signal;
  if (signal > 1) return level(transfer, 1) + (signal - 1) * lastSlope(transfer);
  return level(transfer, signal);
}

export function signalOf({ transfer }: PictureFormat, place: number): number {
  if (transfer === 'sdr' || place < 0) return place;
  if (place > level(transfer, 1)) return 1 + (place - level(transfer, 1)) / lastSlope(transfer);
  let [low, high] = [0, 1];
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (level(transfer, middle) < place) low = middle;
    else high = middle;
  }
  return low;
}

const lastSlope = (transfer: 'pq' | 'hlg'): number =>
  (level(transfer, 1) - level(transfer, 1 - 2 ** -10)) * 2 ** 10;

function level(transfer: 'pq' | 'hlg', signal: number): number {
  if (transfer === 'hlg') {
    const scene =
      signal <= 1 / 2 ? signal ** 2 / 3 : (Math.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12;
    // 1000 cd/m² and a system gamma of 1.2.
    return ((1000 * scene ** 1.2) / 203) ** (1 / 2.4);
  }
  const power = signal ** (32 / 2523);
  const light = (Math.max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)) ** (8192 / 1305);
  return ((10_000 * light) / 203) ** (1 / 2.4);
}

/** Highlights from 0.8 on are compressed so that 1000 cd/m² are at 1. */
export function shoulder({ transfer }: PictureFormat, place: number, direction: 'forth' | 'back'): number {
  const above = place - 0.8;
  if (transfer === 'sdr' || above <= 0) return place;
  const bend = 1 / 0.2 - 1 / (PEAK - 0.8);
  return 0.8 + above / (1 + (direction === 'forth' ? bend : -bend) * above);
}
