import { type Affine } from '../../picture';

/** Planes of one size that are sampled at the same positions. */
interface SampledPlanes {
  readonly width: number;
  readonly height: number;
  /** The offset of each plane in the data. */
  readonly offsets: readonly number[];
  /**
   * The value around each plane, beginning this many outputs beyond the edge. By default the edge is extended without
   * end.
   */
  readonly around?: { readonly values: readonly number[]; readonly from: number };
  /** Values in the target between the rows of successive planes. */
  readonly stride: number;
  /** Cubic (Catmull–Rom) is sharper; bilinear never leaves the range of the samples. */
  readonly interpolation: 'cubic' | 'bilinear';
}

/** Resamples planes under a rotation, stretch and shift. Allocates nothing per picture. */
interface PlaneSampler {
  /** Sets the map from column and row of an output to column and row of a sample, both counted at their centers. */
  aim(map: Affine): void;
  /** Writes `count` outputs of `row`, from `column` on. */
  sampleRow(
    data: Uint8Array | Float32Array,
    column: number,
    row: number,
    count: number,
    target: Float32Array,
    offset: number,
  ): void;
}

/** More samples per axis and output cost time without a visible effect. */
const MOST_SAMPLES = 8;
/** Keeps rounding errors from extending beyond a plane. */
const MARGIN = 1e-3;

/**
 * Outputs that are about as dense as the samples, or denser, are interpolated. If the samples are denser, an output is
 * the mean of enough bilinear samples, evenly spread over its area, that none is skipped.
 */
export function createPlaneSampler(planes: SampledPlanes): PlaneSampler {
  const { width, height, offsets, around, stride } = planes;
  let map: Affine = { a: 1, b: 0, c: 0, d: 0, e: 1, f: 0 };
  let samples = 1;
  let cubic = false;
  /** How far the edge is extended beyond the outermost samples' centers, in samples. */
  let fringe = 0.5;

  /**
   * Outputs whose footprint extends beyond the planes: the value around them, or a bilinear sample of the extended
   * edge.
   */
  const addEdge = (
    data: Uint8Array | Float32Array,
    x: number,
    y: number,
    share: number,
    target: Float32Array,
    to: number,
  ): void => {
    const outside = x < -fringe || y < -fringe || x > width - 1 + fringe || y > height - 1 + fringe;
    const left = Math.floor(x);
    const top = Math.floor(y);
    const x0 = Math.min(Math.max(left, 0), width - 1);
    const x1 = Math.min(Math.max(left + 1, 0), width - 1);
    const y0 = Math.min(Math.max(top, 0), height - 1) * width;
    const y1 = Math.min(Math.max(top + 1, 0), height - 1) * width;
    for (let k = 0; k < offsets.length; k++) {
      const plane = offsets[k] ?? 0;
      const upper = mix(data[plane + y0 + x0] ?? 0, data[plane + y0 + x1] ?? 0, x - left);
      const lower = mix(data[plane + y1 + x0] ?? 0, data[plane + y1 + x1] ?? 0, x - left);
      const value = outside && around ? (around.values[k] ?? 0) : mix(upper, lower, y - top);
      const at = to + k * stride;
      target[at] = (target[at] ?? 0) + share * value;
    }
  };

  const addCubic = (
    data: Uint8Array | Float32Array,
    x: number,
    y: number,
    target: Float32Array,
    to: number,
  ): void => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const [w0, w1, w2, w3] = cubicWeights(x - left);
    const down = cubicWeights(y - top);
    for (let k = 0; k < offsets.length; k++) {
      let at = (offsets[k] ?? 0) + (top - 1) * width + left - 1;
      let sum = 0;
      for (const weight of down) {
        const line =
          w0 * (data[at] ?? 0) +
          w1 * (data[at + 1] ?? 0) +
          w2 * (data[at + 2] ?? 0) +
          w3 * (data[at + 3] ?? 0);
        sum += line * weight;
        at += width;
      }
      const into = to + k * stride;
      target[into] = (target[into] ?? 0) + sum;
    }
  };

  const addBilinear = (
    data: Uint8Array | Float32Array,
    x: number,
    y: number,
    share: number,
    target: Float32Array,
    to: number,
  ): void => {
    const left = x | 0;
    const top = y | 0;
    for (let k = 0; k < offsets.length; k++) {
      const at = (offsets[k] ?? 0) + top * width + left;
      const upper = mix(data[at] ?? 0, data[at + 1] ?? 0, x - left);
      const lower = mix(data[at + width] ?? 0, data[at + width + 1] ?? 0, x - left);
      const into = to + k * stride;
      target[into] = (target[into] ?? 0) + share * mix(upper, lower, y - top);
    }
  };

  /** Adds one sample to every output of a row, the first at (x, y). */
  const addRow = (
    data: Uint8Array | Float32Array,
    x: number,
    y: number,
    count: number,
    target: Float32Array,
    offset: number,
  ): void => {
    // A cubic footprint extends one sample further.
    const reach = cubic ? 1 : 0;
    const share = 1 / (samples * samples);
    const right = width - 1 - reach;
    const bottom = height - 1 - reach;
    const from = Math.min(count, Math.max(enters(x, map.a, reach, right), enters(y, map.d, reach, bottom)));
    const until = Math.min(count, leaves(x, map.a, reach, right), leaves(y, map.d, reach, bottom));
    const to = Math.max(from, until);
    for (let i = 0; i < from; i++) addEdge(data, x + i * map.a, y + i * map.d, share, target, offset + i);
    if (cubic) {
      for (let i = from; i < to; i++) addCubic(data, x + i * map.a, y + i * map.d, target, offset + i);
    } else {
      for (let i = from; i < to; i++)
        addBilinear(data, x + i * map.a, y + i * map.d, share, target, offset + i);
    }
    for (let i = to; i < count; i++) addEdge(data, x + i * map.a, y + i * map.d, share, target, offset + i);
  };

  return {
    aim(next) {
      map = next;
      const step = Math.max(Math.hypot(next.a, next.d), Math.hypot(next.b, next.e));
      samples = Math.min(Math.max(Math.round(step), 1), MOST_SAMPLES);
      fringe = 0.5 + (around?.from ?? 0) * step;
      cubic = samples === 1 && planes.interpolation === 'cubic';
    },
    sampleRow(data, column, row, count, target, offset) {
      for (let k = 0; k < offsets.length; k++) {
        target.fill(0, offset + k * stride, offset + k * stride + count);
      }
      for (let j = 0; j < samples; j++) {
        const v = row + (j + 0.5) / samples - 0.5;
        for (let i = 0; i < samples; i++) {
          const u = column + (i + 0.5) / samples - 0.5;
          addRow(data, map.a * u + map.b * v + map.c, map.d * u + map.e * v + map.f, count, target, offset);
        }
      }
    },
  };
}

function mix(a: number, b: number, share: number): number {
  return a + (b - a) * share;
}

/** The first i ≥ 0 at which start + i · step is in [low, high]; Infinity if there is none. */
function enters(start: number, step: number, low: number, high: number): number {
  const [near, far] = [low + MARGIN, high - MARGIN];
  if (start >= near && start <= far) return 0;
  if (start < near) return step > 0 ? Math.ceil((near - start) / step) : Infinity;
  return step < 0 ? Math.ceil((far - start) / step) : Infinity;
}

/** The first i at which start + i · step, having entered [low, high], has left it again. */
function leaves(start: number, step: number, low: number, high: number): number {
  const [near, far] = [low + MARGIN, high - MARGIN];
  if (step > 0) return Math.floor((far - start) / step) + 1;
  if (step < 0) return Math.floor((near - start) / step) + 1;
  return start >= near && start <= far ? Infinity : 0;
}

/** Weights of the samples at −1, 0, 1 and 2 for a position at `x` (Catmull–Rom). */
function cubicWeights(x: number): readonly [number, number, number, number] {
  return [
    ((2 - x) * x - 1) * x * 0.5,
    (3 * x - 5) * x * x * 0.5 + 1,
    ((4 - 3 * x) * x + 1) * x * 0.5,
    (x - 1) * x * x * 0.5,
  ];
}
