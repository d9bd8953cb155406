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

/** A weight below this changes no sample by half an 8-bit level, whatever is blended. */
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
 * Convolves each line of a square grid of `size`² with a kernel, given by its half, and transposes the grid. Outside
 * counts as 0.
 */
export function blurLines(grid: Float32Array, size: number, half: Float32Array): Float32Array {
  const turned = new Float32Array(size * size);
  const reach = half.length - 1;
  for (let line = 0; line < size; line++) {
    for (let at = 0; at < size; at++) {
      const end = Math.min(at + reach + 1, size);
      let sum = 0;
      for (let k = Math.max(at - reach, 0); k < end; k++)
        sum += (grid[line * size + k] ?? 0) * (half[k < at ? at - k : k - at] ?? 0);
      turned[at * size + line] = sum;
    }
  }
  return turned;
}
