import { totalmem } from 'node:os';

/** As much as holds the banks of the longest stretches at 512 pixels. */
const MOST = 8 * 1024 ** 3;
/** Of the memory that this process may use; the rest is for weights, frames and the other processes. */
const PART = 1 / 8;

/** Memory for reference banks, bytes: 46 MB per frame with the published weights. */
export function bankBudget(): number {
  // 0 where no container limits the process.
  const limit = process.constrainedMemory();
  return Math.min(MOST, PART * Math.min(totalmem(), limit > 0 ? limit : Infinity));
}
