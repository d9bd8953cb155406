import { type Affine, invertAffine } from './affine';

/** A rectangle of samples outside which the mask is 0, bounds included. */
export interface Covered {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * The non-zero samples of a mask [side, side], and one more on each side, because interpolation spreads them that far.
 */
export function coveredCells(mask: Float32Array, side: number): Covered {
  let [left, right, top, bottom] = [side, -1, side, -1];
  mask.forEach((weight, i) => {
    if (weight === 0) return;
    left = Math.min(left, i % side);
    right = Math.max(right, i % side);
    top = Math.min(top, Math.floor(i / side));
    bottom = Math.floor(i / side);
  });
  return { left: left - 1, right: right + 1, top: top - 1, bottom: bottom + 1 };
}

/** Picture rows [top, bottom) that the covered rectangle touches. */
export function coveredRows(
  map: Affine,
  { left, right, top, bottom }: Covered,
): { top: number; bottom: number } {
  const { d, e, f } = invertAffine(map);
  const low = Math.min(d * left, d * right) + Math.min(e * top, e * bottom) + f;
  const high = Math.max(d * left, d * right) + Math.max(e * top, e * bottom) + f;
  return right < left ? { top: 0, bottom: 0 } : { top: Math.floor(low), bottom: Math.ceil(high) + 1 };
}

/**
 * Picture rows [top, bottom) out of `height` that a square of `side` outputs is sampled from, including extended edges.
 */
export function sampledRows(
  { d, e, f }: Affine,
  side: number,
  height: number,
): { top: number; bottom: number } {
  // Corners are half an output beyond the outermost centres, and cubic interpolation reaches two samples further.
  const [first, last] = [-0.5, side - 0.5];
  const low = Math.floor(Math.min(d * first, d * last) + Math.min(e * first, e * last) + f) - 2;
  const high = Math.ceil(Math.max(d * first, d * last) + Math.max(e * first, e * last) + f) + 3;
  const top = Math.min(Math.max(low, 0), height - 1);
  return { top, bottom: Math.min(Math.max(high, top + 1), height) };
}

/** The first picture column of two rows that may be in the covered rectangle. */
export function firstColumn(map: Affine, row: number, { left, right, top, bottom }: Covered): number {
  let first = Infinity;
  for (let y = row; y < row + 2; y++) {
    const across = lowest(map.a, map.b * y + map.c, left, right);
    const down = lowest(map.d, map.e * y + map.f, top, bottom);
    first = Math.min(first, Math.max(across, down));
  }
  return Math.floor(Math.min(Math.max(first, -1), 1e9));
}

/** One past the last column of two rows that may be in the covered rectangle. */
export function endColumn(map: Affine, row: number, { left, right, top, bottom }: Covered): number {
  let end = -Infinity;
  for (let y = row; y < row + 2; y++) {
    const across = -lowest(-map.a, map.b * y + map.c, left, right);
    const down = -lowest(-map.d, map.e * y + map.f, top, bottom);
    end = Math.max(end, Math.min(across, down));
  }
  return Math.ceil(Math.min(Math.max(end, -1), 1e9)) + 1;
}

/** The lowest x with low ≤ factor · x + shift ≤ high; −Infinity or Infinity if this holds for all or for none. */
function lowest(factor: number, shift: number, low: number, high: number): number {
  if (factor === 0) return shift >= low && shift <= high ? -Infinity : Infinity;
  return ((factor > 0 ? low : high) - shift) / factor;
}
