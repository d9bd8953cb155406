/** With more threads, 4K frames in flight no longer fit into the address space that a media child may have. */
const MOST = 16;
/** The number of threads that x264 itself uses per core. */
const PER_CORE = 1.5;

/**
 * Threads for one decoder and for one encoder when this many processes, each running one of both, share the cores. Left
 * to themselves, the codecs count all cores of the machine and hold a picture or two for each.
 */
export function codecThreads(cores: number, processes: number): number {
  return Math.max(1, Math.min(MOST, Math.ceil((cores * PER_CORE) / processes)));
}
