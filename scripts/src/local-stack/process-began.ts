import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * When a live process began, as the operating system tells it; null when there is none (a zombie is none).
 * Together with the pid it names one process for good, where a pid alone is used again.
 */
export function processBegan(pid: number): string | null {
  try {
    return existsSync('/proc/self/stat') ? fromProc(pid) : fromProcessTable(pid);
  } catch {
    return null;
  }
}

/** Linux, also where no `ps` is installed: see proc_pid_stat(5), fields 3 (state) and 22 (starttime). */
function fromProc(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? null : (rest[18] ?? null);
}

function fromProcessTable(pid: number): string | null {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}
