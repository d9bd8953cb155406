/**
 * Half of a normalised Gaussian, index = distance. `size` is the (odd) kernel size of the usual image libraries, which
 * derive sigma = 0.3·((size−1)/2 − 1) + 0.8 from it; `scale` converts its pixels to the target's.
 */
export function gaussianKernel(size: number, scale: number): Float32Array {
  const sigma = (0.3 * ((size - 1) / 2 - 1) + 0.8) * scale;
  const radius = Math.max(1, Math.ceil(((size - 1) / 2) * scale));
  const half = Float32Array.from({ length: radius + 1 }, (_, i) => Math.exp(-(i * i) / (2 * sigma * sigma)));
  let sum = half[0] ?? 1;
  for (let i = 1; i <= radius; i++) sum += 2 * (half[i] ?? 0);
  return half.map((value) => value / sum);
}

/** Convolves the rows (stride 1) or columns (stride = width) of a square grid of `size`²; outside counts as 0. */
export function blurLines(
  source: Float32Array,
  target: Float32Array,
  size: number,
  along: 'rows' | 'columns',
  half: Float32Array,
): void {
  const radius = half.length - 1;
  const step = along === 'rows' ? 1 : size;
  const next = along === 'rows' ? size : 1;
  for (let line = 0; line < size; line++) {
    for (let i = 0; i < size; i++) {
      const centre = line * next + i * step;
      let sum = (source[centre] ?? 0) * (half[0] ?? 0);
      for (let d = 1; d <= radius; d++) {
        const before = i - d >= 0 ? (source[centre - d * step] ?? 0) : 0;
        const after = i + d < size ? (source[centre + d * step] ?? 0) : 0;
        sum += (before + after) * (half[d] ?? 0);
      }
      target[centre] = sum;
    }
  }
}
