import { type Box } from './box';
import { gaussianKernel } from './gaussian-blur';
import { planMemory } from './memory-plan';
import { startKernels } from './pixel-kernels';

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
export type SoftenMask = (half: Float32Array, offset: number, box: Box, mask: BlendMask) => void;

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
