import { type MemoryPlan, type PixelKernels } from './kernels';
import { type Box, type Rows } from './picture';

/** The weight of a sample by its distance from the requested position: symmetric, zero from `radius` on. */
export interface Interpolation {
  readonly radius: number;
  readonly weight: (distance: number) => number;
  /** Up to how many times as dense as the outputs samples may be and still be interpolated. Denser ones are averaged. */
  readonly enlargement: number;
}

/** Straight lines between samples. */
export const BILINEAR: Interpolation = { radius: 1, weight: (x) => Math.max(0, 1 - x), enlargement: 1 };

/** Windowed sinc with four lobes: sharp and without visible ringing on photographs. */
export const LANCZOS: Interpolation = {
  radius: 4,
  weight: (x) => (x < 4 ? sinc(x) * sinc(x / 4) : 0),
  enlargement: 1,
};

/**
 * A crop that is denser than the picture was enlarged from it, and holds no finer detail. Averages on the way back would
 * cost a tenth of the energy of hair.
 */
export const ENLARGEMENT = 2;

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** An interpolation as a table in the kernels' memory. */
interface Table {
  readonly interpolation: Interpolation;
  readonly address: number;
}

/** The two axes of a resampling, laid out as `assembly/axis.ts` describes. */
interface Grid {
  readonly across: number;
  readonly down: number;
  /** Width of the source plane. */
  readonly width: number;
  readonly height: number;
}

/** Values per unit of distance. The error against the true curve stays far below a tenth of a gray level. */
const STEPS = 2048;
/** Taps, outputs, room and an unused word. */
const AXIS_HEADER_BYTES = 16;

export function reserveTable(plan: MemoryPlan, interpolation: Interpolation): Table {
  return { interpolation, address: plan.reserve(tableLength(interpolation) * 4) };
}

export function fillTable({ memory }: PixelKernels, { interpolation, address }: Table): void {
  const values = new Float32Array(memory, address, tableLength(interpolation));
  for (let i = 0; i < values.length; i++) values[i] = interpolation.weight(i / STEPS);
}

function tableLength({ radius }: Interpolation): number {
  return radius * STEPS + 1;
}

/** Reserves a grid over a plane of width × height with at most columns × rows outputs. */
export function reserveGrid(
  plan: MemoryPlan,
  { width, height }: { readonly width: number; readonly height: number },
  columns: number,
  rows: number,
): Grid {
  // Every output may have a weight for every sample. Memory that is never written is never committed.
  const axis = (outputs: number, samples: number): number =>
    plan.reserve(AXIS_HEADER_BYTES + padded(outputs) * (4 + 2 * padded(samples)) + 4 * samples);
  return { across: axis(columns, width), down: axis(rows, height), width, height };
}

/** The number of outputs of an axis, padded to a multiple of eight. */
export function padded(outputs: number): number {
  return Math.ceil(outputs / 8) * 8;
}

/** Spreads `box` of the plane over columns × rows outputs. */
export function aimGrid(
  kernels: PixelKernels,
  { across, down, width, height }: Grid,
  { interpolation: { radius, enlargement }, address }: Table,
  box: Box,
  columns: number,
  rows: number,
): void {
  kernels.aimAxis(across, address, radius, STEPS, columns, box.x1, box.x2 - box.x1, width, enlargement);
  kernels.aimAxis(down, address, radius, STEPS, rows, box.y1, box.y2 - box.y1, height, enlargement);
}

/** The rows of the plane that an aimed grid reads. `words` is the kernels' memory. */
export function touchedRows(words: Int32Array, { down }: Grid): Rows {
  const axis = down / 4;
  const firsts = axis + AXIS_HEADER_BYTES / 4;
  const taps = words[axis] ?? 0;
  const outputs = words[axis + 1] ?? 0;
  return { from: words[firsts] ?? 0, to: (words[firsts + outputs - 1] ?? 0) + taps };
}
