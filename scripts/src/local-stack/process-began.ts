import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { processStat } from '../processes/process-stat';

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

/** Linux, also where no `ps` is installed. */
function fromProc(pid: number): string | null {
  const stat = processStat(pid);
  return stat === null || stat.state === 'Z' ? null : String(stat.beganAtTicks);
}

function fromProcessTable(pid: number): string | null {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
}
