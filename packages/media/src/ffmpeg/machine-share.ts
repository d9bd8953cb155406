import { totalmem } from 'node:os';

/** What the tools that one of several processes starts may use of the machine. */
export interface MachineShare {
  /** Writable memory of each tool. */
  readonly memoryBytes: number;
  /** Threads of each decoder. */
  readonly decoderThreads: number;
  /** Threads of each encoder. */
  readonly encoderThreads: number;
}

/** Far above what 4K needs with all threads, far below what hurts a large machine. */
const MEMORY_MOST = 6 * 1024 ** 3;
/** The rest is for the services' own processes and for what they write to memory-backed folders. */
const MEMORY_PART = 3 / 4;
/**
 * Writable memory for pictures of 4096x2160: with one thread, and for each further one. Measured with ffmpeg 5.1: the
 * most that a decoder of an accepted codec took (10-bit HEVC, ProRes 4444), and an output with x264 and AAC; with room
 * for the stacks of the filters' threads, of which there are more on a machine with more cores.
 */
const DECODER = { first: 512 * 1024 ** 2, further: 80 * 1024 ** 2 };
const ENCODER = { first: 1280 * 1024 ** 2, further: 136 * 1024 ** 2 };

/**
 * The share of each of `processes` that each run one decoder and one encoder at a time. No tool can take more memory
 * than the machine or its container has, and the codecs get no more threads than fit into that.
 */
export function machineShare(
  { cores, memoryBytes: all }: { readonly cores: number; readonly memoryBytes: number },
  processes: number,
): MachineShare {
  const memoryBytes = Math.min(MEMORY_MOST, Math.floor((MEMORY_PART * all) / processes));
  const within = ({ first, further }: typeof DECODER): number =>
    Math.max(1, Math.min(codecThreads(cores, processes), 1 + Math.floor((memoryBytes - first) / further)));
  return { memoryBytes, decoderThreads: within(DECODER), encoderThreads: within(ENCODER) };
}

/** An encoder of 4K already holds 3 GiB of pictures with this many. */
const THREADS_MOST = 16;
/** The number of threads that x264 itself uses per core. */
const THREADS_PER_CORE = 1.5;

/**
 * Threads for one decoder and for one encoder when this many processes, each running one of both, share the cores. Left
 * to themselves, the codecs count all cores of the machine and hold a picture or two for each.
 */
export function codecThreads(cores: number, processes: number): number {
  return Math.max(1, Math.min(THREADS_MOST, Math.ceil((cores * THREADS_PER_CORE) / processes)));
}

/** Bytes that this process and those that it starts may use: the container's limit, or the machine's memory. */
export function usableMemory(): number {
  // 0 or more than the machine has means that this container has no limit.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
