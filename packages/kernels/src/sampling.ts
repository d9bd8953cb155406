import { type Affine } from './affine';
import { type MemoryPlan } from './memory-plan';
import { type PixelKernels } from './pixel-kernels';

/** Planes of one size that are resampled at the same positions under a rotation, stretch and shift. */
export interface SampledPlanes {
  readonly width: number;
  readonly height: number;
  /**
   * The value around the planes, beginning this many outputs beyond the edge. By default the edge is extended without
   * end.
   */
  readonly around?: { readonly value: number; readonly from: number };
  /** Cubic (Catmull–Rom) is sharper; bilinear never leaves the range of the samples. */
  readonly interpolation: 'cubic' | 'bilinear';
}

/** A resampling in the kernels' memory, laid out as `assembly/sampling.ts` describes. */
export interface Sampling extends SampledPlanes {
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
 * centres. Outputs that are about as dense as the samples, or denser, are interpolated. If the samples are denser, an
 * output is the mean of enough bilinear samples that none is skipped.
 */
export function aimSampling({ memory }: PixelKernels, sampling: Sampling, map: Affine): void {
  const { address, width, height, around, interpolation } = sampling;
  const step = Math.max(Math.hypot(map.a, map.d), Math.hypot(map.b, map.e));
  const samples = Math.min(Math.max(Math.round(step), 1), MOST_SAMPLES);
  const fringe = around ? 0.5 + around.from * step : Infinity;
  new Float64Array(memory, address, FLOATS).set([
    ...[map.a, map.b, map.c, map.d, map.e, map.f],
    ...[fringe, around?.value ?? 0],
  ]);
  const cubic = samples === 1 && interpolation === 'cubic' ? 1 : 0;
  new Int32Array(memory, address + FLOATS * 8, INTEGERS).set([width, height, samples, cubic]);
}
