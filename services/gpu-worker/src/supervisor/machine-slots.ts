import { codecThreads } from '@lipsync/media';

/** The resources that a machine has for inference processes. */
interface MachineRoom {
  /** Bytes that this process group may use: the container's limit if it has one. */
  readonly memoryBytes: number;
  readonly cores: number;
  /** Whether the graphs run on a GPU, which is used best by one process at a time. */
  readonly gpu: boolean;
  /** Size of the largest pack's weights, which every process may load. */
  readonly weightBytes: number;
}

/** A process with its decoder and encoder on 4K frames, without weights and without the codecs' threads. */
const PROCESS_BYTES = 1.25 * 1024 ** 3;
/** Each codec thread works on 4K frames of its own. */
const THREAD_BYTES = 90 * 1024 ** 2;
/** Weights are held as read, as repacked by the runtime, and with working memory. */
const WEIGHT_FACTOR = 2;
/** Reserved for the supervisor, the engines' caches (an eighth), the page cache and the rest of the machine. */
const SPARED_PART = 0.375;
/** With fewer cores per process every render only gets slower. */
const CORES_PER_PROCESS = 2;

/** How many inference processes fit; at least one. */
export function machineSlots({ memoryBytes, cores, gpu, weightBytes }: MachineRoom): number {
  if (gpu) return 1;
  const usable = memoryBytes * (1 - SPARED_PART);
  const needed = (slots: number): number =>
    slots * (PROCESS_BYTES + THREAD_BYTES * codecThreads(cores, slots) + WEIGHT_FACTOR * weightBytes);
  let slots = Math.max(1, Math.floor(cores / CORES_PER_PROCESS));
  while (slots > 1 && needed(slots) > usable) slots -= 1;
  return slots;
}
