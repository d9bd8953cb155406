import { treeResidentBytes } from '@lipsync/local-stack';

const EVERY_MS = 100;

/** The peak resident memory, in bytes, of a process and all its descendants while `work` ran. */
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
