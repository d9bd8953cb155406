import { mix, type Rgb } from './shapes';
import { cloudNoise, valueNoise } from './value-noise';

/** A plastered wall, lit from the left, a little out of focus; coordinates 0..1 over the picture. */
export function backdrop(x: number, y: number): Rgb {
  const plaster =
    0.85 + 0.3 * cloudNoise(x * 5, y * 5, 101, 4) + 0.04 * (valueNoise(x * 90, y * 90, 103) - 0.5);
  const light = mix(0.5, 0.26, x) * mix(1.05, 0.8, y) * plaster;
  return [light * 0.98, light * 0.94, light * 0.87];
}
