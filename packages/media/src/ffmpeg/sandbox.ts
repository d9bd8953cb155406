import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** What this machine offers to confine a child process; either part may be missing (macOS, older systems). */
export interface Sandbox {
  /** The command that starts a child which can open no connection. */
  readonly offline?: readonly string[];
  /** Absolute path of `prlimit`. */
  readonly prlimit?: string;
}

/** Resource ceilings of one child: backstops behind the deadline, not tuning. */
interface ResourceLimits {
  readonly cpuSeconds: number;
  /**
   * Writable memory. Address space says little about it: threads reserve 64 MiB of it each and the driver of a card
   * terabytes, next to nothing of which is used.
   */
  readonly memoryBytes: number;
  readonly fileBytes: number;
  readonly openFiles: number;
}

/**
 * System calls that make a socket, for `enosys`; it takes the calling conventions of other processors away altogether.
 * The numbers are the same calls in x32, a second convention of x86-64 that names do not cover.
 */
const SOCKET_CALLS = ['socket', 'io_uring_setup', `${0x40000000 + 41}`, `${0x40000000 + 425}`];

/** Tries the tools once. Blocks for a few milliseconds: call it during startup. */
export function detectSandbox(searchPath: string): Sandbox {
  const nothing = findExecutable('true', searchPath) ?? '/bin/true';
  const working = (name: string, ...args: string[]): string[] | undefined => {
    const tool = findExecutable(name, searchPath);
    if (tool === undefined) return undefined;
    const { status } = spawnSync(tool, [...args, nothing], { env: {}, stdio: 'ignore', timeout: 5_000 });
    return status === 0 ? [tool, ...args] : undefined;
  };
  // A filter of system calls may be set in every container, a namespace of one's own in few. Libraries, a card's
  // driver for one, are prepared for a socket that is denied, but not for a system without sockets.
  const filter = SOCKET_CALLS.flatMap((call) => ['--syscall', `${call}:EACCES`]);
  const offline = working('enosys', ...filter) ?? working('unshare', '-rn');
  const [prlimit] = working('prlimit', '--core=0') ?? [];
  return { ...(offline && { offline }), ...(prlimit !== undefined && { prlimit }) };
}

/** What the sandbox lacks, in words; empty where it is whole. */
export function unconfined({ offline, prlimit }: Sandbox): string[] {
  return [
    ...(offline === undefined ? ['neither enosys nor unshare can take the network away'] : []),
    ...(prlimit === undefined ? ['prlimit cannot bound memory'] : []),
  ];
}

/** Whether `stderr` comes from a child that could not be confined, and so never became the media tool. */
export function refusedToConfine(stderr: string): boolean {
  return /^(prlimit|unshare|enosys): /.test(stderr);
}

/** The command as it is actually run: the tools exec the next word, so the process id stays the media tool's own. */
export function confine(
  { offline = [], prlimit }: Sandbox,
  limits: ResourceLimits,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  const bounded =
    prlimit === undefined
      ? []
      : [
          prlimit,
          '--core=0',
          `--nofile=${limits.openFiles}`,
          `--cpu=${Math.ceil(limits.cpuSeconds)}`,
          `--data=${limits.memoryBytes}`,
          `--fsize=${limits.fileBytes}`,
        ];
  const [program, ...rest] = [...offline, ...bounded, ...command];
  return [program ?? command[0], ...rest];
}

/** Absolute path of an executable: the name itself when it is a path, else its first match on `searchPath`. */
export function findExecutable(name: string, searchPath: string): string | undefined {
  const candidates = isAbsolute(name)
    ? [name]
    : searchPath
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, name));
  return candidates.find(isExecutableFile);
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
