import { existsSync, readdirSync } from 'node:fs';
import { type CpuSeconds, processStat, TICKS_PER_SECOND } from './process-stat';
import { readIfThere } from './read-if-there';

/** The page size on x86-64; some arm64 kernels use larger ones. */
const PAGE_BYTES = 4096;

/** Processor time of a process so far; children are included once they have ended. */
export function processCpuSeconds(pid: number): CpuSeconds {
  const stat = processStat(pid);
  if (stat === null) throw new Error(`there is no process ${pid}`);
  return stat.cpu;
}

/** Processor time of all processes of the machine since it started, in seconds. */
export function machineCpuSeconds(): number {
  const [total = ''] = readIfThere('/proc/stat').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = total
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}

/** Current resident memory, in bytes, of a process and all its descendants. */
export function treeResidentBytes(root: number): number {
  if (!existsSync('/proc/thread-self/children'))
    throw new Error('this kernel does not say whose child a process is');
  return residentPages(root) * PAGE_BYTES;
}

function residentPages(root: number): number {
  const own = processStat(root)?.residentPages ?? 0;
  return childrenOf(root).reduce((pages, child) => pages + residentPages(child), own);
}

/** Ids of a process's children. Reads only these files, because reading creates garbage in the process being measured. */
export function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) =>
    readIfThere(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
