import { usableMemory } from '@lipsync/media';

/** Fits highsync's banks for a stretch of 250 frames at 512 pixels, 46 MB each. */
const MOST = 12 * 1024 ** 3;
/** Share of the memory that these processes may use; the rest is for weights, frames and the supervisor. */
const PART = 1 / 8;

/** Bytes that each of `processes` inference processes may spend on caching instead of recomputing. */
export function spareMemory(processes: number, usable = usableMemory()): number {
  return Math.min(MOST, (PART * usable) / processes);
}
