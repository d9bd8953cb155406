import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { processStat } from './processes/process-stat';

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
