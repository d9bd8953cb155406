import { readIfThere } from './read-if-there';

/** Processor seconds, of the user and of the system. */
export interface CpuSeconds {
  readonly own: number;
  /** Of children that have ended and were waited for, and theirs. */
  readonly endedChildren: number;
}

/** What Linux says of one process: see proc_pid_stat(5). */
export interface ProcessStat {
  /** One letter; Z is a zombie. */
  readonly state: string;
  readonly parent: number;
  readonly cpu: CpuSeconds;
  /** Since the system's start. */
  readonly beganAtTicks: number;
  readonly residentPages: number;
}

/** Fixed where Linux tells programs of ticks, whatever the kernel's own are. */
export const TICKS_PER_SECOND = 100;

/** Null when the process is gone, and where there is no /proc. */
export function processStat(pid: number): ProcessStat | null {
  const text = readIfThere(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything; what is read here comes behind it, from the third field on.
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
