import { type MemoryPlan, type PixelKernels } from './kernels';
import { type Affine, invertAffine, type Rows } from './picture';
import { ENLARGEMENT } from './resampling';

/** In the order of their numbers in the kernels. */
const INTERPOLATIONS = ['bilinear', 'cubic', 'sharp'] as const;

/** Planes of one size that are resampled at the same positions under a rotation, stretch and shift. */
export interface SampledPlanes {
  readonly width: number;
  readonly height: number;
  /**
   * The value around the planes, beginning this many outputs beyond the edge. By default the edge is extended without
   * end.
   */
  readonly around?: { readonly value: number; readonly from: number };
  /**
   * Bilinear never leaves the range of the samples. Cubic (Catmull–Rom) is sharper where outputs are as dense as the
   * samples or denser. Sharp is for samples that were enlarged from as few as the outputs: it is cubic where they are up
   * to about ENLARGEMENT times as dense, and sharp beyond at four times the time.
   */
  readonly interpolation: (typeof INTERPOLATIONS)[number];
}

/** A resampling in the kernels' memory, laid out as `assembly/sampling.ts` describes. */
interface Sampling extends SampledPlanes {
  readonly address: number;
}

const MAP_VALUES = 6;
const FLOATS = MAP_VALUES + 2;
const INTEGERS = 4;

/** More samples per axis and output cost time without a visible effect. */
const MOST_SAMPLES = 8;

export function reserveSampling(plan: MemoryPlan, planes: SampledPlanes): Sampling {
  return { ...planes, address: plan.reserve(FLOATS * 8 + INTEGERS * 4) };
}

/**
 * Writes a resampling. `map` maps column and row of an output to column and row of a sample, both counted at their
 * centers. Outputs that are about as dense as the samples, or denser, are interpolated. If the samples are denser, an
 * output is the mean of enough bilinear samples that none is skipped, which 'sharp' corrects by negative lobes.
 */
export function aimSampling({ memory }: PixelKernels, sampling: Sampling, map: Affine): void {
  const { address, width, height, around, interpolation } = sampling;
  const step = Math.max(Math.hypot(map.a, map.d), Math.hypot(map.b, map.e));
  const density = interpolation === 'sharp' ? step / ENLARGEMENT : step;
  const samples = Math.min(Math.max(Math.round(density), 1), MOST_SAMPLES);
  const fringe = around ? 0.5 + around.from * step : Infinity;
  new Float64Array(memory, address, FLOATS).set([
    ...[map.a, map.b, map.c, map.d, map.e, map.f],
    ...[fringe, around?.value ?? 0],
  ]);
  const number = INTERPOLATIONS.indexOf(interpolation);
  new Int32Array(memory, address + FLOATS * 8, INTEGERS).set([width, height, samples, number]);
}

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

/** Picture rows that the covered rectangle touches. */
export function coveredRows(map: Affine, { left, right, top, bottom }: Covered): Rows {
  const { d, e, f } = invertAffine(map);
  const low = Math.min(d * left, d * right) + Math.min(e * top, e * bottom) + f;
  const high = Math.max(d * left, d * right) + Math.max(e * top, e * bottom) + f;
  return right < left ? { from: 0, to: 0 } : { from: Math.floor(low), to: Math.ceil(high) + 1 };
}

/** Picture rows out of `height` that a square of `side` outputs is sampled from, including extended edges. */
export function sampledRows({ d, e, f }: Affine, side: number, height: number): Rows {
  // Corners are half an output beyond the outermost centers, and cubic interpolation reaches two samples further.
  const [first, last] = [-0.5, side - 0.5];
  const low = Math.floor(Math.min(d * first, d * last) + Math.min(e * first, e * last) + f) - 2;
  const high = Math.ceil(Math.max(d * first, d * last) + Math.max(e * first, e * last) + f) + 3;
  const from = Math.min(Math.max(low, 0), height - 1);
  return { from, to: Math.min(Math.max(high, from + 1), height) };
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
