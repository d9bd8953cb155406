import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Processor seconds in user and system mode. */
interface CpuSeconds {
  readonly own: number;
  /** CPU seconds of children that have ended and were waited for, including their own such children. */
  readonly endedChildren: number;
}

/** What Linux reports about one process: see proc_pid_stat(5). */
interface ProcessStat {
  /** One letter; Z is a zombie. */
  readonly state: string;
  readonly parent: number;
  readonly cpu: CpuSeconds;
  /** Ticks since system start. */
  readonly beganAtTicks: number;
  readonly residentPages: number;
}

/** The constant that Linux uses in its interfaces, whatever the kernel's own tick rate is. */
const TICKS_PER_SECOND = 100;

/** Null when the process is gone, and on systems without /proc. */
export function processStat(pid: number): ProcessStat | null {
  const text = readIfThere(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything; the fields read here follow it, from the third on.
  const [state = '', ...numbers] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (state === '') return null;
  const field = (number: number): number => Number(numbers[number - 4]);
  return {
    state,
    parent: field(4),
    cpu: {
      own: (field(14) + field(15)) / TICKS_PER_SECOND,
      endedChildren: (field(16) + field(17)) / TICKS_PER_SECOND,
    },
    beganAtTicks: field(22),
    residentPages: field(24),
  };
}

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

/** Text of a file under /proc, which disappears with its process; empty when it is gone. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * When a live process began, as the operating system reports it; null when there is none (a zombie counts as none).
 * Together with the pid it identifies one process for good, whereas a pid alone is reused.
 */
export function processBegan(pid: number): string | null {
  try {
    return existsSync('/proc/self/stat') ? fromProc(pid) : fromProcessTable(pid);
  } catch {
    return null;
  }
}

/** For Linux, even without `ps`. */
function fromProc(pid: number): string | null {
  const stat = processStat(pid);
  return stat === null || stat.state === 'Z' ? null : String(stat.beganAtTicks);
}

function fromProcessTable(pid: number): string | null {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}
