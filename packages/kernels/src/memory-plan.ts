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
