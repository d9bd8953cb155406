import { totalmem } from 'node:os';

/** As much as holds what highsync remembers of its longest stretches at 512 pixels. */
const MOST = 8 * 1024 ** 3;
/** Of the memory that these processes may use; the rest is for weights, frames and the supervisor. */
const PART = 1 / 8;

/** Memory that each of so many inference processes may spend on remembering instead of computing again, bytes. */
export function spareMemory(processes: number): number {
  // 0 where no container limits the process.
  const limit = process.constrainedMemory();
  return Math.min(MOST, (PART * Math.min(totalmem(), limit > 0 ? limit : Infinity)) / processes);
}
