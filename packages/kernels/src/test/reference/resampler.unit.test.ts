import { BILINEAR, LANCZOS } from '../../resampling';
import { createResamplingAxis, type ResamplingAxis } from './resampler';

function apply({ outputs, taps, first, weights }: ResamplingAxis, source: readonly number[]): number[] {
  return Array.from({ length: outputs }, (_, k) => {
    let sum = 0;
    for (let t = 0; t < taps; t++)
      sum += (source[(first[k] ?? 0) + t] ?? NaN) * (weights[k * taps + t] ?? NaN);
    return sum;
  });
}

const ramp = Array.from({ length: 40 }, (_, i) => i);

describe.each([
  ['triangle', BILINEAR],
  ['lanczos', LANCZOS],
])('%s', (_, interpolation) => {
  test('the identity keeps every sample', () => {
    const out = apply(createResamplingAxis(interpolation)(10, 5, 10, 40), ramp);
    out.forEach((value, k) => expect(value).toBeCloseTo(5 + k, 4));
  });

  test('a straight line stays straight when enlarged and when reduced', () => {
    for (const outputs of [5, 33]) {
      const out = apply(createResamplingAxis(interpolation)(outputs, 12, 16, 40), ramp);
      out.forEach((value, k) => expect(value).toBeCloseTo(12 + ((k + 0.5) * 16) / outputs - 0.5, 1));
    }
  });

  test('the edge repeats beyond the ends of the source', () => {
    const out = apply(
      createResamplingAxis(interpolation)(50, -5, 50, 40),
      Array.from(ramp, () => 7),
    );
    out.forEach((value) => expect(value).toBeCloseTo(7, 4));
  });

  test('a source shorter than the kernel still gives weights that sum to one', () => {
    const out = apply(createResamplingAxis(interpolation)(9, 0, 2, 2), [3, 3]);
    out.forEach((value) => expect(value).toBeCloseTo(3, 4));
  });

  test('reducing averages fine stripes instead of selecting some of them', () => {
    const stripes = Array.from({ length: 40 }, (_, i) => (i % 2) * 100);
    const out = apply(createResamplingAxis(interpolation)(10, 0, 40, 40), stripes);
    out.slice(2, -2).forEach((value) => expect(Math.abs(value - 50)).toBeLessThan(2));
  });
});
