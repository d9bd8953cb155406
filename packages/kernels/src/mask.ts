import { planMemory, startKernels } from './kernels';
import { type Box } from './picture';

/** Cells per side of a mask. Blurred masks need no more, because the paste interpolates between cells. */
export const MASK_SIZE = 128;

/**
 * How much of the generated face to show in each cell of its box: [MASK_SIZE, MASK_SIZE] in [0, 1], row by row from the
 * top.
 */
export type BlendMask = Float32Array;

/** Cells of the lower half of a mask, where the face is generated: [MASK_SIZE / 2, MASK_SIZE]. */
export const HALF_MASK_VALUES = (MASK_SIZE * MASK_SIZE) / 2;

/** Side of the square around a face in which masks are measured, relative to the longer side of its box (MuseTalk). */
export const MASK_SQUARE = 1.5;

/** Converts the hard lower half at `offset` to a whole soft mask, for a face in this box. */
type SoftenMask = (half: Float32Array, offset: number, box: Box, mask: BlendMask) => void;

/**
 * MuseTalk's feathering (github.com/TMElyralab/MuseTalk): a Gaussian of ⌊`blur`·W/2⌋·2 + 1 pixels, where W is the side
 * of the square around the face. It extends slightly into the upper half.
 */
export function createMaskSoftener(blur: number): SoftenMask {
  const plan = planMemory();
  const grid = plan.reserve(MASK_SIZE * MASK_SIZE * 4);
  const between = plan.reserve(MASK_SIZE * MASK_SIZE * 4);
  const halves = [plan.reserve(MASK_SIZE * 4), plan.reserve(MASK_SIZE * 4)] as const;
  const line = plan.reserve(3 * MASK_SIZE * 4);
  const kernels = startKernels(plan.bytes);
  const floats = new Float32Array(kernels.memory);
  const cells = floats.subarray(grid / 4, grid / 4 + MASK_SIZE * MASK_SIZE);

  /** Writes half a Gaussian and returns its radius. Whatever extends beyond the mask makes no difference. */
  const writeKernel = (size: number, scale: number, address: number): number => {
    const half = gaussianKernel(size, scale).subarray(0, MASK_SIZE);
    floats.set(half, address / 4);
    return half.length - 1;
  };

  return (half, offset, { x1, y1, x2, y2 }, mask) => {
    const width = x2 - x1;
    const height = y2 - y1;
    const size = Math.floor((blur * MASK_SQUARE * Math.max(width, height)) / 2) * 2 + 1;
    const [rows, columns] = halves;
    const rowRadius = writeKernel(size, MASK_SIZE / width, rows);
    const columnRadius = writeKernel(size, MASK_SIZE / height, columns);
    cells.fill(0, 0, HALF_MASK_VALUES);
    cells.set(half.subarray(offset, offset + HALF_MASK_VALUES), HALF_MASK_VALUES);
    const filled = [MASK_SIZE / 2, MASK_SIZE] as const;
    kernels.blurSquare(grid, MASK_SIZE, ...filled, rows, rowRadius, columns, columnRadius, between, line);
    mask.set(cells);
  };
}

/** A weight below this changes no 8-bit sample by half a level, whatever is blended. */
export const INVISIBLE = 1 / 512;

/**
 * Half of a normalized Gaussian, indexed by distance. `size` is the (odd) kernel size of the usual image libraries,
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

/** Adds every cell of a row to its neighbors in the row. */
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
