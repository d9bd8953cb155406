import { KERNELS } from './generated/kernels';

/**
 * The pixel kernels of `assembly/`, where they are documented, with a memory of their own. All parameters are addresses
 * in that memory, or numbers.
 */
export interface PixelKernels {
  readonly memory: ArrayBuffer;
  aimAxis(
    axis: number,
    table: number,
    radius: number,
    steps: number,
    outputs: number,
    start: number,
    span: number,
    limit: number,
  ): void;
  blurSquare(
    grid: number,
    size: number,
    from: number,
    to: number,
    rowHalf: number,
    rowRadius: number,
    columnHalf: number,
    columnRadius: number,
    between: number,
    line: number,
  ): void;
  samplePatch(
    picture: number,
    width: number,
    height: number,
    originX: number,
    originY: number,
    stepX: number,
    stepY: number,
    samples: number,
    columns: number,
    rows: number,
    target: number,
  ): void;
  resamplePlane(
    plane: number,
    stride: number,
    across: number,
    down: number,
    line: number,
    target: number,
  ): void;
  toRgb(
    planes: number,
    area: number,
    black: number,
    luma: number,
    redV: number,
    greenU: number,
    greenV: number,
    blueU: number,
  ): void;
  pasteFace(
    luma: number,
    stride: number,
    u: number,
    v: number,
    chromaStride: number,
    face: number,
    size: number,
    across: number,
    down: number,
    chromaAcross: number,
    chromaDown: number,
    mask: number,
    maskSize: number,
    maskAcross: number,
    maskDown: number,
    least: number,
    scratch: number,
  ): void;
  toYuv(planes: number, apart: number, from: number, end: number, factors: number): void;
  toFixed(values: number, from: number, end: number): void;
  sampleSquare(
    plane: number,
    planes: number,
    apart: number,
    sampling: number,
    side: number,
    target: number,
    targetApart: number,
  ): void;
  pasteAligned(
    luma: number,
    stride: number,
    u: number,
    v: number,
    chromaStride: number,
    top: number,
    pairs: number,
    spans: number,
    face: number,
    size: number,
    firstRow: number,
    endRow: number,
    paired: number,
    faceSampling: number,
    mask: number,
    maskSampling: number,
    least: number,
    factors: number,
    scratch: number,
  ): void;
}

const PAGE_BYTES = 65_536;

/** Starts the kernels with `bytes` of memory. It never moves, so views of it stay valid. */
export function startKernels(bytes: number): PixelKernels {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(KERNELS), { env: { memory } });
  return {
    memory: memory.buffer,
    aimAxis: kernel(exports, 'aimAxis'),
    blurSquare: kernel(exports, 'blurSquare'),
    samplePatch: kernel(exports, 'samplePatch'),
    resamplePlane: kernel(exports, 'resamplePlane'),
    toRgb: kernel(exports, 'toRgb'),
    pasteFace: kernel(exports, 'pasteFace'),
    toYuv: kernel(exports, 'toYuv'),
    toFixed: kernel(exports, 'toFixed'),
    sampleSquare: kernel(exports, 'sampleSquare'),
    pasteAligned: kernel(exports, 'pasteAligned'),
  };
}

type KernelFunction = (...parameters: number[]) => void;

function kernel(exports: Readonly<Record<string, unknown>>, name: string): KernelFunction {
  const exported = exports[name];
  if (isKernel(exported)) return exported;
  throw new Error(`there is no kernel '${name}'`);
}

/** The functions that the module exports take only numbers. */
function isKernel(exported: unknown): exported is KernelFunction {
  return typeof exported === 'function';
}

/** Lays out the memory of kernels before it exists. Addresses and sizes are in bytes. */
export interface MemoryPlan {
  /** Reserves this many bytes and returns their address. */
  reserve(bytes: number): number;
  /** The total reserved so far. */
  readonly bytes: number;
}

/** Kernels process sixteen bytes at a time and may read and rewrite that much after the end of their data. */
const SLACK = 16;

export function planMemory(): MemoryPlan {
  let bytes = SLACK;
  return {
    reserve: (wanted) => {
      const address = bytes;
      bytes = Math.ceil((address + wanted + SLACK) / SLACK) * SLACK;
      return address;
    },
    get bytes() {
      return bytes;
    },
  };
}
