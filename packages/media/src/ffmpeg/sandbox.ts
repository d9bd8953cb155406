import { spawnSync } from 'node:child_process';
import { findExecutable } from './find-executable';

/** What this machine offers to confine a child process; either part may be missing (macOS, locked-down containers). */
export interface Sandbox {
  /** Absolute path of `unshare` when it can give a child an empty network namespace. */
  readonly unshare?: string;
  /** Absolute path of `prlimit`. */
  readonly prlimit?: string;
}

/** Resource ceilings of one child: backstops behind the deadline, not tuning. */
export interface ResourceLimits {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly fileBytes: number;
  /** Limit on writable memory, where `memoryBytes` of address space is too loose. */
  readonly dataBytes?: number | undefined;
  /**
   * The child uses a card. The card's driver reserves terabytes of address space without filling them, so the limit
   * applies to writable memory instead; the driver also opens more files.
   */
  readonly device?: boolean;
}

/** Tries both tools once. Blocks for a few milliseconds: call it during startup. */
export function detectSandbox(searchPath: string): Sandbox {
  const works = (tool: string | undefined, args: string[]): tool is string =>
    tool !== undefined && spawnSync(tool, args, { env: {}, stdio: 'ignore', timeout: 5_000 }).status === 0;
  const nothing = findExecutable('true', searchPath) ?? '/bin/true';
  const unshare = findExecutable('unshare', searchPath);
  const prlimit = findExecutable('prlimit', searchPath);
  return {
    ...(works(unshare, ['-rn', nothing]) ? { unshare } : {}),
    ...(works(prlimit, ['--core=0', nothing]) ? { prlimit } : {}),
  };
}

/** Whether `stderr` comes from a child that could not be confined, and so never became the media tool. */
export function refusedToConfine(stderr: string): boolean {
  return /^(prlimit|unshare): /.test(stderr);
}

/** The command as it is actually run: both tools exec the next word, so the process id stays the media tool's own. */
export function confine(
  sandbox: Sandbox,
  limits: ResourceLimits,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  const prefix: string[] = [];
  if (sandbox.unshare !== undefined) prefix.push(sandbox.unshare, '-rn');
  if (sandbox.prlimit !== undefined) {
    prefix.push(
      sandbox.prlimit,
      '--core=0',
      `--nofile=${limits.device === true ? 1024 : 64}`,
      `--cpu=${Math.ceil(limits.cpuSeconds)}`,
      `--${limits.device === true ? 'data' : 'as'}=${limits.memoryBytes}`,
      `--fsize=${limits.fileBytes}`,
      ...(limits.dataBytes === undefined ? [] : [`--data=${limits.dataBytes}`]),
    );
  }
  const [program, ...rest] = [...prefix, ...command];
  return [program ?? command[0], ...rest];
}
