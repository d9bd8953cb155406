import { KERNELS } from './generated/kernels';

/** Takes addresses in the kernels' memory, and numbers. */
type Kernel = (...parameters: number[]) => void;

/** What `assembly/index.ts` exports. The kernels and their parameters are documented there. */
type Kernels = Readonly<
  Record<
    | 'aimAxis'
    | 'blurSquare'
    | 'colorsToFixed'
    | 'hideOutput'
    | 'pasteAligned'
    | 'pasteColors'
    | 'pasteFace'
    | 'resamplePlane'
    | 'samplePatch'
    | 'sampleSquare'
    | 'scale'
    | 'toFixed'
    | 'toRgb'
    | 'toSdr'
    | 'toYuv',
    Kernel
  >
>;

/** The pixel kernels with a memory of their own. */
export interface PixelKernels extends Kernels {
  readonly memory: ArrayBuffer;
}

const PAGE_BYTES = 65_536;

/** Starts the kernels with `bytes` of memory. It never moves, so views of it stay valid. */
export function startKernels(bytes: number): PixelKernels {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { exports } = new WebAssembly.Instance<Kernels>(new WebAssembly.Module(KERNELS), { env: { memory } });
  return { ...exports, memory: memory.buffer };
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
