import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc: fixed on Linux, whatever the kernel's own are. */
const TICKS_PER_SECOND = 100;

/**
 * Processor seconds that a process and its descendants have used, those included that have ended and were waited for.
 * 0 where there is no /proc.
 */
export function cpuSeconds(pid: number): number {
  const children = childrenByParent();
  const ofTree = (root: number): number =>
    ownTicks(root) + (children.get(root) ?? []).reduce((sum, child) => sum + ofTree(child), 0);
  return ofTree(pid) / TICKS_PER_SECOND;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of entries()) {
    const parent = Number(stat(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

function entries(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** utime, stime and those of the children that were waited for (proc(5), fields 14 to 17). */
function ownTicks(pid: number): number {
  return stat(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0);
}

/** The fields of /proc/pid/stat from the third (state) on; empty when the process is gone. */
function stat(pid: number): string[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command's name in brackets, and may hold anything.
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
