import { setTimeout } from 'node:timers/promises';
import { mebibytes, NVIDIA_SMI, queryCards } from '@lipsync/gpu-worker';

/** The most that was seen of GPU memory, in MiB. */
export interface GpuMemory {
  /** Used by the process alone; null where nvidia-smi cannot see it, as in most containers. */
  readonly process_mib: number | null;
  /** By how much the memory in use on all cards grew, whoever uses them. */
  readonly growth_mib: number;
}

const SAMPLE_MS = 500;

/**
 * Samples GPU memory until the returned function is called, which resolves to what was seen, or null without nvidia-smi.
 * Call it before the process takes any: growth is counted from here.
 */
export function watchGpuMemory(
  pid: () => number | undefined,
  program = NVIDIA_SMI,
): () => Promise<GpuMemory | null> {
  const stopped = new AbortController();
  const seen = sample(program, pid, stopped.signal).catch(() => null);
  return () => {
    stopped.abort();
    return seen;
  };
}

async function sample(
  program: string,
  pid: () => number | undefined,
  signal: AbortSignal,
): Promise<GpuMemory> {
  const before = await memoryInUse(program);
  let processMib: number | null = null;
  let growth = 0;
  for (;;) {
    growth = Math.max(growth, (await memoryInUse(program)) - before);
    const rows = await queryCards(program, 'compute-apps', 'pid', 'used_memory');
    const own = rows.filter(([id]) => Number(id) === pid());
    if (own.length > 0) processMib = Math.max(processMib ?? 0, sumOf(own.map(([, used]) => used)));
    if (signal.aborted) return { process_mib: processMib, growth_mib: growth };
    await setTimeout(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function memoryInUse(program: string): Promise<number> {
  const rows = await queryCards(program, 'gpu', 'memory.used');
  return sumOf(rows.map(([used]) => used));
}

function sumOf(cells: readonly (string | undefined)[]): number {
  return cells.reduce((sum, cell) => sum + (mebibytes(cell) ?? 0), 0);
}
