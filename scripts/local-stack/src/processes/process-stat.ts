import { readIfThere } from './read-if-there';

/** Processor seconds in user and system mode. */
export interface CpuSeconds {
  readonly own: number;
  /** Of children that have ended and were waited for, including their own such children. */
  readonly endedChildren: number;
}

/** What Linux reports about one process: see proc_pid_stat(5). */
export interface ProcessStat {
  /** One letter; Z is a zombie. */
  readonly state: string;
  readonly parent: number;
  readonly cpu: CpuSeconds;
  /** Ticks since system start. */
  readonly beganAtTicks: number;
  readonly residentPages: number;
}

/** The constant that Linux uses in its interfaces, whatever the kernel's own tick rate is. */
export const TICKS_PER_SECOND = 100;

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
