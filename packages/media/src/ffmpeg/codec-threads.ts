/** With more, 4K frames in flight no longer fit into the address space that a media child may have. */
const MOST = 16;
/** What x264 itself takes for each core. */
const PER_CORE = 1.5;

/**
 * Threads for one decoder and for one encoder, when this many processes that each run a pair share the cores. Left to
 * themselves the codecs count all cores of the machine, and hold a picture or two for each.
 */
export function codecThreads(cores: number, processes: number): number {
  return Math.max(1, Math.min(MOST, Math.ceil((cores * PER_CORE) / processes)));
}
