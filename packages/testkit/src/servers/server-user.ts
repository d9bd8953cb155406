import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The account for a server that refuses to run as root. */
export interface ServerUser {
  uid: number;
  gid: number;
}

/** For Postgres, which refuses to run as root: `postgres`, or else `nobody`. Undefined if this process is not root. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(([login]) => login === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error('Postgres cannot run as root, and neither a postgres nor a nobody account exists');
}

/**
 * Returns a path that `user` can access: `path` itself, or a stable substitute below the system's temporary directory
 * if one of its parents (say /root) is not accessible to that user.
 */
export function reachablePath(path: string, user: ServerUser | undefined): string {
  const absolute = resolve(path);
  if (user === undefined || isReachable(dirname(absolute), user)) return absolute;
  const base = process.platform === 'linux' ? '/var/tmp' : tmpdir();
  return join(base, `lipsync-${createHash('sha256').update(absolute).digest('hex').slice(0, 16)}`);
}

function isReachable(directory: string, user: ServerUser): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat !== undefined) {
    const traversable = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
    if ((stat.mode & traversable) === 0) return false;
  }
  const parent = dirname(directory);
  return parent === directory || isReachable(parent, user);
}
