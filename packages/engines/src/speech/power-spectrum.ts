import { createComplexFft } from './fft';

/** Samples of one analysis frame. */
export const FRAME_LENGTH = 400;
/** Bins 0 … 8 kHz at 16 kHz, 40 Hz apart. */
export const BIN_COUNT = FRAME_LENGTH / 2 + 1;

const HALF = FRAME_LENGTH / 2;

/**
 * |DFT|² of 400 real samples under a periodic Hann window, in double precision. Pairs of real samples are packed into
 * complex numbers, so that the transform has half the length; the spectrum is then separated by symmetry.
 */
export function createPowerSpectrum(): (frame: Float64Array, power: Float64Array) => void {
  const fft = createComplexFft([5, 5, 4, 2]);
  const window = Float64Array.from(
    { length: FRAME_LENGTH },
    (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME_LENGTH),
  );
  const cos = Float64Array.from({ length: BIN_COUNT }, (_, k) => Math.cos((2 * Math.PI * k) / FRAME_LENGTH));
  const sin = Float64Array.from({ length: BIN_COUNT }, (_, k) => -Math.sin((2 * Math.PI * k) / FRAME_LENGTH));
  const even = new Float64Array(HALF);
  const odd = new Float64Array(HALF);
  return (frame, power) => {
    for (let i = 0; i < HALF; i++) {
      even[i] = (frame[2 * i] ?? 0) * (window[2 * i] ?? 0);
      odd[i] = (frame[2 * i + 1] ?? 0) * (window[2 * i + 1] ?? 0);
    }
    const { re, im } = fft(even, odd);
    for (let k = 0; k < BIN_COUNT; k++) {
      const a = k % HALF;
      const b = (HALF - k) % HALF;
      const evenRe = ((re[a] ?? 0) + (re[b] ?? 0)) / 2;
      const evenIm = ((im[a] ?? 0) - (im[b] ?? 0)) / 2;
      const oddRe = ((im[a] ?? 0) + (im[b] ?? 0)) / 2;
      const oddIm = ((re[b] ?? 0) - (re[a] ?? 0)) / 2;
      const c = cos[k] ?? 0;
      const s = sin[k] ?? 0;
      const x = evenRe + oddRe * c - oddIm * s;
      const y = evenIm + oddRe * s + oddIm * c;
      power[k] = x * x + y * y;
    }
  };
}
