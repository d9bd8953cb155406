/**
 * Half of a normalised Gaussian, indexed by distance. `size` is the (odd) kernel size of the usual image libraries,
 * which derive sigma = 0.3·((size−1)/2 − 1) + 0.8 from it. `scale` converts its pixels to the target's.
 */
export function gaussianKernel(size: number, scale: number): Float32Array {
  const sigma = (0.3 * ((size - 1) / 2 - 1) + 0.8) * scale;
  const radius = Math.max(1, Math.ceil(((size - 1) / 2) * scale));
  const half = Float32Array.from({ length: radius + 1 }, (_, i) => Math.exp(-(i * i) / (2 * sigma * sigma)));
  let sum = half[0] ?? 1;
  for (let i = 1; i <= radius; i++) sum += 2 * (half[i] ?? 0);
  return half.map((value) => value / sum);
}

/**
 * Convolves the rows (stride 1) or columns (stride = size) of a square grid of `size`². Outside counts as 0. Masks are
 * mostly empty, so rows of zeros cost almost nothing. `target` must be another grid.
 */
export function blurLines(
  source: Float32Array,
  target: Float32Array,
  size: number,
  along: 'rows' | 'columns',
  half: Float32Array,
): void {
  target.fill(0);
  const add = along === 'rows' ? spreadAlong : spreadAcross;
  for (let row = 0; row < size; row++) {
    if (!isEmpty(source, row * size, size)) add(source, target, size, row, half);
  }
}

function isEmpty(grid: Float32Array, start: number, count: number): boolean {
  for (let i = start; i < start + count; i++) if (grid[i] !== 0) return false;
  return true;
}

/** Adds every cell of a row to its neighbours in the row. */
function spreadAlong(
  source: Float32Array,
  target: Float32Array,
  size: number,
  row: number,
  half: Float32Array,
): void {
  const start = row * size;
  const end = start + size;
  for (let d = 1 - half.length; d < half.length; d++) {
    const weight = half[Math.abs(d)] ?? 0;
    const last = Math.min(end, end - d);
    for (let i = Math.max(start, start - d); i < last; i++) {
      target[i + d] = (target[i + d] ?? 0) + (source[i] ?? 0) * weight;
    }
  }
}

/** Adds a row to the rows around it. */
function spreadAcross(
  source: Float32Array,
  target: Float32Array,
  size: number,
  row: number,
  half: Float32Array,
): void {
  const start = row * size;
  const first = Math.max(0, row - half.length + 1);
  const last = Math.min(size - 1, row + half.length - 1);
  for (let other = first; other <= last; other++) {
    const weight = half[Math.abs(other - row)] ?? 0;
    const shift = (other - row) * size;
    for (let i = start; i < start + size; i++) {
      target[i + shift] = (target[i + shift] ?? 0) + (source[i] ?? 0) * weight;
    }
  }
}
