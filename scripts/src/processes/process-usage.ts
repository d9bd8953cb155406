import { existsSync, readdirSync } from 'node:fs';
import { type CpuSeconds, processStat, TICKS_PER_SECOND } from './process-stat';
import { readIfThere } from './read-if-there';

/** Of x86-64; some kernels of arm64 have larger ones. */
const PAGE_BYTES = 4096;

/** Processor time of a process so far; it counts a child when that has ended. */
export function processCpuSeconds(pid: number): CpuSeconds {
  const stat = processStat(pid);
  if (stat === null) throw new Error(`there is no process ${pid}`);
  return stat.cpu;
}

/** Processor time that all processes of the machine have used since it started, in seconds. */
export function machineCpuSeconds(): number {
  const [total = ''] = readIfThere('/proc/stat').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = total
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}

/** Resident bytes of a process and of everything that it started, at this moment. */
export function treeResidentBytes(root: number): number {
  if (!existsSync('/proc/thread-self/children'))
    throw new Error('this kernel does not say whose child a process is');
  return residentPages(root) * PAGE_BYTES;
}

function residentPages(root: number): number {
  const own = processStat(root)?.residentPages ?? 0;
  return childrenOf(root).reduce((pages, child) => pages + residentPages(child), own);
}

/** Only these are looked at: what this process reads is garbage in the memory that it measures. */
function childrenOf(pid: number): number[] {
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
