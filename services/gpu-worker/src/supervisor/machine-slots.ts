import { codecThreads } from '@lipsync/media';

/** What a machine can spare for inference processes. */
export interface MachineRoom {
  /** Bytes this process group may use: the container's limit where there is one. */
  readonly memoryBytes: number;
  readonly cores: number;
  /** Whether the graphs run on a GPU, which one process at a time uses best. */
  readonly gpu: boolean;
  /** Weights of the largest pack, which every process may load. */
  readonly weightBytes: number;
}

/** A process with its decoder and encoder on 4K frames, without weights and without the codecs' threads. */
const PROCESS_BYTES = 1.25 * 1024 ** 3;
/** Each thread of the two works on 4K frames of its own. */
const THREAD_BYTES = 90 * 1024 ** 2;
/** Weights are read, laid out anew and worked on. */
const WEIGHT_FACTOR = 2;
/** The supervisor, what engines remember of frames (an eighth), the page cache, the rest of the machine. */
const SPARED_PART = 0.375;
/** Fewer cores than this per process only make every render slower. */
const CORES_PER_PROCESS = 2;

/** How many inference processes fit, at least one. */
export function machineSlots({ memoryBytes, cores, gpu, weightBytes }: MachineRoom): number {
  if (gpu) return 1;
  const usable = memoryBytes * (1 - SPARED_PART);
  const needed = (slots: number): number =>
    slots * (PROCESS_BYTES + THREAD_BYTES * codecThreads(cores, slots) + WEIGHT_FACTOR * weightBytes);
  let slots = Math.max(1, Math.floor(cores / CORES_PER_PROCESS));
  while (slots > 1 && needed(slots) > usable) slots -= 1;
  return slots;
}
