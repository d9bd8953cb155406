import { createComplexFft } from './fft';

test('the fast transform equals the defining sum', () => {
  const length = 60;
  const re = Float64Array.from({ length }, (_, i) => Math.sin(i * 1.7) + 0.2 * i);
  const im = Float64Array.from({ length }, (_, i) => Math.cos(i * 0.4) * i);
  const spectrum = createComplexFft([5, 4, 3])(re, im);
  for (let k = 0; k < length; k++) {
    let sumRe = 0;
    let sumIm = 0;
    for (let n = 0; n < length; n++) {
      const angle = (-2 * Math.PI * ((k * n) % length)) / length;
      sumRe += (re[n] ?? 0) * Math.cos(angle) - (im[n] ?? 0) * Math.sin(angle);
      sumIm += (re[n] ?? 0) * Math.sin(angle) + (im[n] ?? 0) * Math.cos(angle);
    }
    expect(spectrum.re[k]).toBeCloseTo(sumRe, 9);
    expect(spectrum.im[k]).toBeCloseTo(sumIm, 9);
  }
});
