import { readFileSync } from 'node:fs';

/** Text of a file under /proc, which disappears with its process; empty when it is gone. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
