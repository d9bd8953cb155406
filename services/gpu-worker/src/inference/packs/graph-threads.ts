/** A network with so many weights makes a face in a second or so on a processor: whoever decodes and encodes waits for it. */
const HEAVY_BYTES = 256 * 2 ** 20;

/**
 * Threads inside a graph of a pack with so many bytes of weights: half of the process's cores, because the other half
 * decodes, encodes and moves pixels; all of them where that takes next to nothing beside the networks.
 */
export function graphThreads(packBytes: number, cores: number): number {
  return packBytes >= HEAVY_BYTES ? cores : Math.max(1, Math.floor(cores / 2));
}
