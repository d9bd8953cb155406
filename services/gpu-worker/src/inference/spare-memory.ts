import { totalmem } from 'node:os';

/** What highsync remembers of a stretch of 250 frames at 512 pixels, 46 MB each, fits into it. */
const MOST = 12 * 1024 ** 3;
/** Of the memory that these processes may use; the rest is for weights, frames and the supervisor. */
const PART = 1 / 8;

/** Memory that each of so many inference processes may spend on remembering instead of computing again, bytes. */
export function spareMemory(processes: number, usable = usableMemory()): number {
  return Math.min(MOST, (PART * usable) / processes);
}

function usableMemory(): number {
  // 0 where no container limits the process.
  const limit = process.constrainedMemory();
  return Math.min(totalmem(), limit > 0 ? limit : Infinity);
}
