/** Lays out the memory of kernels before there is one. Addresses and sizes are in bytes. */
export interface MemoryPlan {
  /** The address of so many bytes that nobody else gets. */
  reserve(bytes: number): number;
  /** What has been reserved so far. */
  readonly bytes: number;
}

/** Kernels work on sixteen bytes at a time and may read and rewrite that much behind the end of what they are given. */
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
