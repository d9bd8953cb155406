import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What Linux says of one process. */
interface ProcessStat {
  /** User and system time of the process, and of those of its children that have ended. */
  readonly ownTicks: number;
  readonly endedChildrenTicks: number;
  readonly residentPages: number;
}

/** Processor seconds. */
export interface CpuSeconds {
  readonly own: number;
  /** Of children that have ended, and theirs. */
  readonly endedChildren: number;
}

/** Both are fixed where Linux exports them to programs. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** Processor time of a process so far; it counts a child when that has ended. */
export function cpuSeconds(pid: number): CpuSeconds {
  const stat = readStat(pid);
  if (stat === null) throw new Error(`there is no process ${pid}`);
  return {
    own: stat.ownTicks / TICKS_PER_SECOND,
    endedChildren: stat.endedChildrenTicks / TICKS_PER_SECOND,
  };
}

/** Processor time that all processes of the machine have used since it started, in seconds. */
export function machineCpuSeconds(): number {
  const [total = ''] = read('/proc/stat').split('\n', 1);
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
  const own = readStat(root)?.residentPages ?? 0;
  return childrenOf(root).reduce((pages, child) => pages + residentPages(child), own);
}

/** Only these are looked at: what this process reads is garbage in the memory that it measures. */
function childrenOf(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Null when the process has just ended. */
function readStat(pid: number): ProcessStat | null {
  const text = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything; what is counted here comes behind it, from the third field on.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  if (fields.length < 22) return null;
  return {
    ownTicks: field(14) + field(15),
    endedChildrenTicks: field(16) + field(17),
    residentPages: field(24),
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
