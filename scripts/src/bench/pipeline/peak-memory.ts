import { treeResidentBytes } from '../../processes/process-usage';

const EVERY_MS = 100;

/** The largest resident memory of a process and all that it started while `work` went on, in bytes. */
export async function peakMemoryDuring<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; peakBytes: number }> {
  let peakBytes = 0;
  const look = (): void => {
    peakBytes = Math.max(peakBytes, treeResidentBytes(pid));
  };
  const timer = setInterval(look, EVERY_MS);
  try {
    const result = await work();
    return { result, peakBytes };
  } finally {
    clearInterval(timer);
  }
}
