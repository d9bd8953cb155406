import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { processBegan } from './processes';
import { waitUntil } from './waiting';

/** A background process of the local stack. */
export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Null when it is ready; otherwise what is missing, in a few words. */
  lacks: () => Promise<string | null>;
  /** Time between SIGTERM and SIGKILL. */
  stopGraceMs: number;
}

interface PidRecord {
  pid: number;
  /** Start time from the process table: distinguishes the process from a later one with the same pid. */
  began: string;
  /** Digest of the specification it was started with, so that a changed setting restarts the process. */
  spec: string;
  /** Where its output begins in the log file, which has that of earlier processes of this name, too. */
  logFrom: number;
}

/** Enough for one line of a log with a stack in it. */
const LOG_TAIL_BYTES = 8_192;

export type StartOutcome = 'started' | 'restarted' | 'already running';
export type ProcessManager = ReturnType<typeof createProcessManager>;

/**
 * Starts, finds and stops detached processes through pid files in `runDir`; their output goes to `logsDir`. Holds no
 * state of its own: any number of command invocations see the same processes.
 */
export function createProcessManager({ runDir, logsDir }: { runDir: string; logsDir: string }) {
  mkdirSync(runDir, { recursive: true });
  mkdirSync(logsDir, { recursive: true });
  const pidFile = (name: string) => path.join(runDir, `${name}.json`);
  const logFile = (name: string) => path.join(logsDir, `${name}.log`);

  function readRecord(name: string): PidRecord | null {
    try {
      return JSON.parse(readFileSync(pidFile(name), 'utf8')) as PidRecord;
    } catch {
      return null;
    }
  }

  /** Pid of the running process of this name, or null. */
  function findPid(name: string): number | null {
    const record = readRecord(name);
    return record !== null && processBegan(record.pid) === record.began ? record.pid : null;
  }

  async function start(spec: ProcessSpec): Promise<StartOutcome> {
    const digest = specDigest(spec);
    const running = findPid(spec.name);
    if (running !== null && readRecord(spec.name)?.spec === digest) return 'already running';
    if (running !== null) await stop(spec);
    const log = openSync(logFile(spec.name), 'a');
    const logFrom = fstatSync(log).size;
    const child = spawn(spec.command, spec.args, {
      env: spec.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    if (child.pid === undefined) throw new Error(`${spec.name} could not be started`);
    const began = processBegan(child.pid) ?? '';
    const record: PidRecord = { pid: child.pid, began, spec: digest, logFrom };
    writeFileSync(pidFile(spec.name), JSON.stringify(record));
    return running === null ? 'started' : 'restarted';
  }

  async function stop({ name, stopGraceMs }: Pick<ProcessSpec, 'name' | 'stopGraceMs'>): Promise<void> {
    const pid = findPid(name);
    if (pid !== null) {
      process.kill(pid, 'SIGTERM');
      const gone = await waitUntil(() => findPid(name) === null, stopGraceMs);
      if (!gone) process.kill(pid, 'SIGKILL');
    }
    rmSync(pidFile(name), { force: true });
  }

  /** What the process of this name logged last, without the fields of our own logger; empty while it is silent. */
  function lastLogLine(name: string): string {
    const log = openSync(logFile(name), 'r');
    try {
      const { size } = fstatSync(log);
      const from = Math.max(readRecord(name)?.logFrom ?? 0, size - LOG_TAIL_BYTES);
      const tail = Buffer.alloc(size - from);
      readSync(log, tail, 0, tail.length, from);
      return messageOf(tail.toString().trimEnd().split('\n').at(-1) ?? '');
    } finally {
      closeSync(log);
    }
  }

  return { findPid, start, stop, lastLogLine, logFile };
}

function messageOf(line: string): string {
  try {
    const { message, error } = JSON.parse(line) as { message?: string; error?: { message?: string } };
    return [message, error?.message].filter((part) => part !== undefined).join(': ');
  } catch {
    return line;
  }
}

function specDigest({ command, args, env }: ProcessSpec): string {
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([command, args, sorted]))
    .digest('hex');
}
