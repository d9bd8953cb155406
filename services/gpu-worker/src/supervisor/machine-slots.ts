import { codecThreads } from '@lipsync/media';

/** The resources that a machine has for inference processes. */
interface MachineRoom {
  /** Bytes that this process group may use: the container's limit if it has one. */
  readonly memoryBytes: number;
  readonly cores: number;
  /** The GPU that the graphs run on; undefined for graphs on the CPU. */
  readonly card: CardRoom | undefined;
  /** Weights that every process may hold at one time. */
  readonly weightBytes: number;
}

interface CardRoom {
  /** Undefined where nobody says. */
  readonly memoryBytes: number | undefined;
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

/** The default of GPU_SLOTS: how many inference processes fit; at least one. */
export function machineSlots({ memoryBytes, cores, card, weightBytes }: MachineRoom): number {
  const usable = memoryBytes * (1 - SPARED_PART);
  const needed = (slots: number): number =>
    slots * (PROCESS_BYTES + THREAD_BYTES * codecThreads(cores, slots) + WEIGHT_FACTOR * weightBytes);
  const mostOnCard = card === undefined ? Infinity : cardSlots(card, weightBytes);
  let slots = Math.max(1, Math.min(mostOnCard, Math.floor(cores / CORES_PER_PROCESS)));
  while (slots > 1 && needed(slots) > usable) slots -= 1;
  return slots;
}

/** While one process analyzes, fetches or finishes a file, another one draws. A third one is not known to gain anything. */
const MOST_ON_CARD = 2;
/** A process of each slot and its decoder and encoder on the card, without weights: contexts, libraries, workspaces. */
const CARD_PROCESS_BYTES = 2.5 * 1024 ** 3;
/** With what graphs work on: the published packs, of 1.8, 2.5 and 6.5 GiB, took 6.9, 5.1 and 17.5 GiB of an H200. */
const CARD_WEIGHT_FACTOR = 3;
/** Reserved for what takes a card's memory beside the worker, and for gaps in it. */
const CARD_SPARED_PART = 0.1;

function cardSlots({ memoryBytes = 0 }: CardRoom, weightBytes: number): number {
  const needed = CARD_PROCESS_BYTES + CARD_WEIGHT_FACTOR * weightBytes;
  return Math.min(MOST_ON_CARD, Math.floor((memoryBytes * (1 - CARD_SPARED_PART)) / needed));
}
